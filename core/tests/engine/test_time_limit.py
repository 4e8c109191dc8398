"""Time and its limit; what they do in an episode is tested in `test_environment`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.environment import NO_TIME_LIMIT, is_time_up, next_time
from envcore.wrappers import Batched
from toy import Counter

KEY = jax.random.key(0)
LAST = 2**31 - 1


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


def test_without_a_limit_an_episode_goes_on_forever() -> None:
    env: Any = Batched(Counter(), 3)
    params = env.default_params.replace(max_steps_in_episode=NO_TIME_LIMIT)
    _, state = env.reset(KEY, params)
    state = state.replace(time=np.full(env.batch_shape, LAST - 1, np.int32))
    for _ in range(3):
        _, state, _, done, _ = env.step(KEY, state, np.zeros(env.batch_shape, int), params)
        assert not done.any()
        assert (state.time == LAST).all()
