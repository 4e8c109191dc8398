"""The time limit of an episode, `params.max_steps_in_episode`, and the time that it is compared with."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

NO_TIME_LIMIT = 2**31 - 1
"""`max_steps_in_episode` of an environment that has no time limit: no step is ever truncated.

It is also the largest value of `state.time`. The count stops there, and the episode continues without truncation; every
smaller limit has been reached by then.
"""


def next_time(time: jax.Array) -> jax.Array:
    """The time one step later, int32 of any shape; it stays at 2**31 - 1, where adding 1 would wrap around."""
    return time + (time != np.int32(NO_TIME_LIMIT)).astype(jnp.int32)


def is_time_up(time: jax.Array, limit: Any) -> jax.Array:
    """Whether the limit is reached, bool of the time's shape; `NO_TIME_LIMIT` never is."""
    return (time >= limit) & (limit != np.int32(NO_TIME_LIMIT))
