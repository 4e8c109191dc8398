"""Time, its limit, and limits that are floats."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.engine.arguments import checked_params
from envcore.environment import NO_TIME_LIMIT, is_time_up, next_time
from envcore.errors import InvalidParamsError
from envcore.wrappers import RandomizeParams
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


@pytest.mark.parametrize(
    ("limit", "steps"),
    [
        (3.0, 3),
        (np.float32(1000), 1000),
        (np.array(2.0), 2),
        (np.inf, NO_TIME_LIMIT),
        (1e300, NO_TIME_LIMIT),
        (np.float32(LAST), NO_TIME_LIMIT),
        (jnp.inf, NO_TIME_LIMIT),
    ],
)
@pytest.mark.parametrize("env", [Counter(), RandomizeParams(Counter(), {"bonus": (0, 1)})], ids=["plain", "nested"])
def test_a_whole_float_is_a_limit_and_infinity_is_none(env: Any, limit: Any, steps: int) -> None:
    params = checked_params(env, env.default_params.replace(max_steps_in_episode=limit))
    assert (params.max_steps_in_episode, params.max_steps_in_episode.dtype) == (steps, np.int32)


@pytest.mark.parametrize(("limit", "steps"), [(3.0, 3), (2.5, 3), (np.inf, NO_TIME_LIMIT), (2.0**31, NO_TIME_LIMIT)])
def test_a_float_of_unknown_value(limit: float, steps: int) -> None:
    def of(limit: jax.Array) -> Any:
        return checked_params(Counter(), Counter().default_params.replace(max_steps_in_episode=limit))

    for found in (of(jnp.float32(limit)), jax.jit(of)(limit), jax.vmap(of)(jnp.array([limit]))):
        assert found.max_steps_in_episode == steps
        assert found.max_steps_in_episode.dtype == jnp.int32


def test_an_episode_ends_at_a_whole_float() -> None:
    params = Counter().default_params.replace(max_steps_in_episode=2.0)
    _, state = Counter().reset(KEY, params)
    ends = []
    for _ in range(2):
        _, state, _, _, info = Counter().step(KEY, state, 0, params)
        ends.append(bool(info["truncated"]))
    assert ends == [False, True]


@pytest.mark.parametrize("limit", [2.5, 0.0, -3.0, -np.inf, np.nan, np.float32(0.5)])
def test_other_floats_are_refused(limit: float) -> None:
    with pytest.raises(InvalidParamsError, match=f"max_steps_in_episode must be a whole number .*, got {limit}"):
        Counter().reset(KEY, Counter().default_params.replace(max_steps_in_episode=limit))
