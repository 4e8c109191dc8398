"""The observed time of meta-learning environments whose params have `normalize_time`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from envcore.typing import FloatParam


def observed_time(time: jax.Array, params: Any, low: FloatParam = -1.0, high: FloatParam = 1.0) -> jax.Array:
    """Returns the observed time: from `low` to `high` with `params.normalize_time`, else the number of steps.

    It stops at `params.max_steps_in_episode`.
    """
    passed = jnp.minimum(time, params.max_steps_in_episode).astype(jnp.float32)
    share = passed / jnp.asarray(params.max_steps_in_episode, jnp.float32)
    scaled = jnp.clip((high - low) * share + low, low, high)  # rounding can exceed `high`
    return jnp.where(params.normalize_time, scaled, passed)


def time_bounds(params: Any, low: FloatParam = -1.0, high: FloatParam = 1.0) -> tuple[Any, Any]:
    """Returns the smallest and the largest `observed_time`."""
    last = params.max_steps_in_episode
    if isinstance(params.normalize_time, jax.Array):  # may be traced
        low, high, last = (jnp.asarray(bound, jnp.float32) for bound in (low, high, last))
        return jnp.where(params.normalize_time, low, 0), jnp.where(params.normalize_time, high, last)
    return (low, high) if params.normalize_time else (0.0, last)
