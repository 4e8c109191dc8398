"""What time and its limit do; `Environment` is tested in `test_environment`."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
import toy
from envcore.environment import NO_TIME_LIMIT
from envcore.wrappers import Batched, LogWrapper

KEY = jax.random.key(0)


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


@pytest.mark.parametrize("start", [LAST - 2, LAST - 1, LAST])
def test_without_a_limit_an_episode_goes_on_forever(start: int) -> None:
    env = toy.Counter()
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
