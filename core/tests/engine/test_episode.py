"""`Environment` is tested in `test_environment`; this proves that the engine needs only `Rules`."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import pytest
from envcore import spaces
from envcore.engine import arguments, episode, stepping
from envcore.engine.types import Outcome
from envcore.environment import EnvParams, EnvState
from envcore.errors import EnvironmentDefinitionError
from flax import struct

KEY = jax.random.key(0)


@struct.dataclass
class State(EnvState):
    count: Any


@dataclasses.dataclass(frozen=True)
class Stranger:
    """Not an `Environment`, but with everything that the engine needs."""

    expensive_reset: ClassVar[bool] = False
    time_limit_terminates: ClassVar[bool] = False

    name: str = "Stranger"
    broken: bool = False

    @property
    def default_params(self) -> EnvParams:
        return EnvParams(max_steps_in_episode=3)

    def complete_params(self, params: Any) -> Any:
        return params

    def check_params(self, params: Any) -> None:
        pass

    def action_space(self, params: Any = None) -> spaces.Space:
        return spaces.Discrete(2)

    def draw_start(self, key: jax.Array, params: Any) -> Any:
        return key

    def init_state(self, draws: Any, params: Any) -> State:
        return State(count=10)

    def draw(self, key: jax.Array, params: Any) -> Any:
        return key

    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> tuple[Any, ...]:
        return (state,) if self.broken else (state.replace(count=state.count + action), 1, False)

    def observe(self, state: Any, params: Any) -> Any:
        return state.count

    def mask_actions(self, state: Any, params: Any) -> Any:
        return None

    def carry_over(self, fresh: Any, final: Any) -> Any:
        return fresh.replace(count=final.count)

    def start(self, key: jax.Array, params: Any) -> Any:
        return episode.start(self, key, params)

    def advance(self, state: Any, action: Any, draws: Any, params: Any) -> Outcome:
        return episode.advance(self, state, action, draws, params)

    def restart(self, key: jax.Array, done: jax.Array, state: Any, params: Any) -> Any:
        return episode.restart(self, key, done, state, params)


def test_an_episode_of_rules_that_are_not_an_environment() -> None:
    env, params = Stranger(), arguments.checked_params(Stranger(), None)
    obs, state = stepping.reset(env, KEY, params)
    assert (int(obs), int(state.time), obs.dtype) == (10, 0, jnp.int32)
    seen = []
    for _ in range(4):
        obs, state, reward, done, info = stepping.step(env, *arguments.checked(env, KEY, state, 1, None))
        seen.append((int(obs), int(state.time), float(reward), bool(done), bool(info["truncated"])))
    assert seen == [
        (11, 1, 1.0, False, False),
        (12, 2, 1.0, False, False),
        (13, 0, 1.0, True, True),  # the time limit; `carry_over` keeps the count, not the time
        (14, 1, 1.0, False, False),
    ]


def test_an_author_s_error_names_the_class() -> None:
    env = Stranger(broken=True)
    _, state = stepping.reset(env, KEY, arguments.checked_params(env, None))
    with pytest.raises(EnvironmentDefinitionError, match=r"^Stranger breaks the contract: transition must return"):
        stepping.step(env, *arguments.checked(env, KEY, state, 1, None))
