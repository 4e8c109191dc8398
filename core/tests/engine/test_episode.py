"""`Environment` is tested in `test_environment`; this proves that the engine needs only `Rules`, and what time and its
limit do."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy
from envcore import spaces
from envcore.engine import arguments, episode, stepping
from envcore.engine.types import Outcome
from envcore.environment import NO_TIME_LIMIT, EnvParams, EnvState, is_time_up, next_time
from envcore.errors import EnvironmentDefinitionError
from envcore.wrappers import Batched, LogWrapper, NoAutoReset
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


LAST = 2**31 - 1


def steps(env: Any, time: int, limit: int, count: int = 4) -> tuple[list[int], list[bool]]:
    """The times after steps without auto-reset, and whether each step is truncated."""
    params = env.default_params.replace(max_steps_in_episode=limit)
    _, state = env.reset(KEY, params)
    state = state.replace(time=np.int32(time))
    times, truncated = [], []
    for _ in range(count):
        _, state, _, _, info = env.step_env(KEY, state, 0, params)
        times.append(int(state.time))
        truncated.append(bool(info["truncated"]))
    return times, truncated


def test_the_next_time_is_one_more_and_never_wraps() -> None:
    times = jnp.array([0, 1, LAST - 2, LAST - 1, LAST], jnp.int32)
    after = next_time(times)
    assert after.dtype == jnp.int32
    assert after.tolist() == [1, 2, LAST - 1, LAST, LAST]


@pytest.mark.parametrize(
    ("limit", "reached"),
    [(1, [False, True, True, True]), (LAST - 1, [False, False, True, True]), (NO_TIME_LIMIT, [False] * 4)],
)
def test_every_limit_is_reached_but_no_limit_never(limit: int, reached: list[bool]) -> None:
    times = jnp.array([0, 1, LAST - 1, LAST], jnp.int32)
    assert is_time_up(times, np.int32(limit)).tolist() == reached
    assert jax.jit(is_time_up)(times, jnp.int32(limit)).tolist() == reached


@pytest.mark.parametrize("start", [LAST - 2, LAST - 1, LAST])
@pytest.mark.parametrize("env", [toy.Counter(), NoAutoReset(toy.Counter())], ids=str)
def test_without_a_limit_an_episode_goes_on_forever(env: Any, start: int) -> None:
    times, truncated = steps(env, start, NO_TIME_LIMIT)
    assert times == [min(start + i, LAST) for i in range(1, 5)]
    assert truncated == [False] * 4


@pytest.mark.parametrize(("start", "limit"), [(LAST - 3, LAST - 1), (LAST, 10), (LAST - 1, LAST - 1)])
def test_a_limit_is_reached_and_stays_so(start: int, limit: int) -> None:
    times, truncated = steps(toy.Counter(), start, limit)
    assert times == [min(start + i, LAST) for i in range(1, 5)]
    assert truncated == [time >= limit for time in times]
    assert truncated[-1]


def test_no_limit_does_not_terminate_either() -> None:
    env = toy.Fuse()
    params = env.default_params.replace(max_steps_in_episode=NO_TIME_LIMIT)
    _, state = env.reset(KEY, params)
    _, state, _, done, _ = env.step(KEY, state.replace(time=np.int32(LAST)), 0, params)
    assert not bool(done)
    assert int(state.time) == LAST


def test_auto_reset_and_batches_keep_a_saturated_time() -> None:
    env = Batched(toy.Counter(), 3)
    params = env.default_params.replace(max_steps_in_episode=NO_TIME_LIMIT)
    _, state = env.reset(KEY, params)
    state = state.replace(time=np.full(3, LAST, np.int32))
    _, state, _, done, _ = env.step(KEY, state, np.array([0, 1, 0]), params)
    assert state.time.tolist() == [LAST] * 3
    assert not np.asarray(done).any()


def test_lengths_in_the_log_saturate_too() -> None:
    env = LogWrapper(toy.Counter(goal=1))
    params = env.default_params.replace(max_steps_in_episode=NO_TIME_LIMIT)
    _, state = env.reset(KEY, params)
    for length, action in ((LAST - 1, 0), (LAST, 0), (LAST, 1)):
        state = state.replace(episode_lengths=np.int32(length))
        _, state, _, _, info = env.step(KEY, state, action, params)
    assert int(info["returned_episode_lengths"]) == LAST
