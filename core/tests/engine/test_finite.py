from __future__ import annotations

import dataclasses
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.engine import arguments
from envcore.engine.arguments import limit
from envcore.environment import EnvParams
from envcore.errors import InvalidParamsError
from envcore.wrappers import NormalizeReward
from flax import struct
from toy import Counter

KEY = jax.random.key(0)


@struct.dataclass
class Slope:
    angle: Any = 0.5
    length: Any = 2.0


@struct.dataclass
class HillParams(EnvParams):
    """Floats of every kind."""

    push: Any = 0.5
    max_speed: Any = limit(3.0)
    walls: Any = limit(default_factory=lambda: np.array([-1.0, 1.0]))
    slope: Any = struct.field(default_factory=Slope)
    places: Any = struct.field(default_factory=lambda: np.zeros((2, 3)))
    horizon: Any = struct.field(default_factory=lambda: np.array([5.0, np.inf]))  # its default declares it
    table: Any = struct.field(default_factory=lambda: {"weights": np.ones(2, np.float16)})
    max_steps_in_episode: Any = 10


class Hill(Counter):
    @property
    def default_params(self) -> Any:
        return HillParams()

    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        return super().transition(state, action, draws, struct_with_bonus(params))


def struct_with_bonus(params: HillParams) -> Any:
    return dataclasses.make_dataclass("WithBonus", ["bonus"])(params.push)


ENV = Hill()
GOOD = ENV.default_params
BAD: list[tuple[dict[str, Any], str]] = [
    ({"push": float("nan")}, ".push must be finite, got nan"),
    ({"max_speed": float("nan")}, ".max_speed must not be NaN, got nan"),
    ({"walls": np.array([-np.inf, np.nan])}, ".walls[1] must not be NaN, got nan"),
    ({"horizon": np.array([np.nan, np.inf])}, ".horizon[0] must not be NaN, got nan"),
    ({"table": {"weights": np.array([1, 1e5])}}, ".table['weights'][1] must be finite, got inf"),
]


def refused(text: str) -> Any:
    return pytest.raises(InvalidParamsError, match=f"^Hill's params{re.escape(text)}\\.")


@pytest.mark.parametrize(("changes", "text"), BAD, ids=lambda each: str(each) if isinstance(each, str) else "")
def test_what_is_not_finite_is_refused_in_one_line(changes: dict[str, Any], text: str) -> None:
    on_device = jax.tree.map(jnp.asarray, arguments.default_params(ENV))
    for params in (GOOD.replace(**changes), on_device.replace(**changes)):
        with refused(text) as caught:
            arguments.checked_params(ENV, params)
        assert "\n" not in str(caught.value)


def test_params_in_params_are_refused_by_their_path() -> None:
    env = NormalizeReward(ENV)
    for changes, text in (({"push": np.inf}, ".env_params.push"), ({"max_speed": np.nan}, ".env_params.max_speed")):
        with pytest.raises(InvalidParamsError, match=rf"^Hill's params{text} must"):
            env.reset(KEY, env.default_params.replace(**changes))
    statistics = dataclasses.replace(env.default_params.reward_statistics, var=np.float32(np.inf))
    with pytest.raises(InvalidParamsError, match=r"^Hill's params\.reward_statistics\.var must be finite, got inf"):
        env.reset(KEY, env.default_params.replace(reward_statistics=statistics))


def test_limits_may_be_infinite() -> None:
    infinite = {"max_speed": np.inf, "walls": np.array([-np.inf, np.inf]), "horizon": np.full(2, np.inf)}
    checked = arguments.checked_params(ENV, GOOD.replace(**infinite))
    for name, value in infinite.items():
        np.testing.assert_array_equal(getattr(checked, name), value)
    arguments.checked_params(NormalizeReward(ENV), NormalizeReward(ENV).default_params.replace(max_speed=np.inf))


def test_jax_arrays_pass() -> None:
    for params in (GOOD.replace(push=jnp.float32(jnp.nan)), jax.tree.map(jnp.asarray, GOOD.replace(push=np.nan))):
        arguments.checked_params(ENV, params)
    jax.make_jaxpr(lambda push: ENV.reset(KEY, GOOD.replace(push=push)))(np.nan)
