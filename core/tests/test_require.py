from __future__ import annotations

import dataclasses
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy
from envcore import require
from envcore.environment import EnvParams
from envcore.errors import InvalidParamsError
from envcore.wrappers import Batched, LogWrapper
from flax import struct

KEY = jax.random.key(0)


@struct.dataclass
class Numbers(EnvParams):
    low: Any = 0.0
    high: Any = 1.0
    place: Any = None


@dataclasses.dataclass(frozen=True)
class Strict(toy.Counter):
    """A counter whose bonus must be from 0 to 1."""

    def check_params(self, params: toy.CounterParams) -> None:
        require.between(params, 0, 1, "bonus")


@pytest.mark.parametrize("kind", [float, np.float32, np.array])
@pytest.mark.parametrize(
    ("check", "bad", "text"),
    [
        (lambda p: require.positive(p, "high", "low"), [-1.0, 0.0, 1e-40, np.nan], "positive"),
        (lambda p: require.nonnegative(p, "low"), [-1.0, -1e-6, np.nan], "at least 0"),
        (lambda p: require.between(p, 0.25, 0.5, "low"), [0.2, 0.6, -np.inf, np.inf, np.nan], "from 0.25 to 0.5"),
        (lambda p: require.moderate(p, "low"), [-np.inf, 1e-13, np.nan], "0 or from 1e-12 to 1000000 in magnitude"),
        (lambda p: require.ordered(p, "low", "high"), [1.1, np.nan], "at most high"),
        (lambda p: require.below(p, "low", "high"), [1.0, np.nan], "below high"),
        (lambda p: require.that(p, ("low",), lambda x: x != 3, "not 3"), [3.0], "not 3"),
    ],
)
def test_bad_values_are_refused(check: Any, bad: list[float], text: str, kind: Any) -> None:
    check(Numbers(low=kind(0.25)))
    for value in bad:
        with pytest.raises(
            InvalidParamsError, match=rf"^Numbers\.low must be {text}, got {re.escape(str(kind(value)))}( and 1\.0)?\.$"
        ):
            check(Numbers(low=kind(value)))


def test_jax_arrays_and_missing_params_pass() -> None:
    require.positive(Numbers(low=jnp.float32(-1), place=None), "low", "place")
    require.ordered(Numbers(low=jnp.float32(2), high=jnp.float32(1)), "low", "high")
    jax.make_jaxpr(lambda params: require.positive(params, "low", "high"))(Numbers(low=-1.0, high=-1.0))


@pytest.mark.parametrize(
    ("low", "high"), [(2.0, jnp.float32(1)), (jnp.float32(2), np.float32(1)), (np.array([0.0, 2.0]), jnp.float32(1))]
)
def test_a_relation_of_a_number_and_a_jax_array_is_checked(low: Any, high: Any) -> None:
    with pytest.raises(InvalidParamsError, match=r"^Numbers\.low must be at most high, got .*2\..* and 1\.0\.$"):
        require.ordered(Numbers(low=low, high=high), "low", "high")


def test_a_number_that_is_equal_on_the_device_is_equal() -> None:
    for low in (-0.4, np.float64(-0.4), np.array(-0.4)):
        require.ordered(Numbers(low=low, high=jnp.float32(-0.4)), "low", "high")


@pytest.mark.parametrize("env", [Strict(), LogWrapper(Batched(Strict(), 2))], ids=str)
def test_an_environment_checks_what_it_is_given(env: Any) -> None:
    good = env.default_params
    bad = good.replace(bonus=2)
    _, state = env.reset(KEY, good)
    action = env.action_space(env.default_params).sample(KEY)
    calls = [
        lambda: env.reset(KEY, bad),
        lambda: env.step(KEY, state, action, bad),
        lambda: env.step_env(KEY, state, action, bad),
        lambda: jax.jit(lambda: env.reset(KEY, bad))(),
    ]
    for call in calls:
        with pytest.raises(InvalidParamsError, match=r"CounterParams\.bonus must be from 0 to 1, got 2"):
            call()


def test_a_jax_array_among_numbers_hides_no_other() -> None:
    env = Strict()
    params = jax.tree.map(jnp.asarray, env.default_params)
    env.reset(KEY, params.replace(bonus=jnp.float32(2)))
    with pytest.raises(InvalidParamsError, match="bonus must be"):
        env.reset(KEY, params.replace(bonus=2.0))
