"""The time limit of an episode, `params.max_steps_in_episode`, and the time that it is compared with."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envcore import trees
from envcore.errors import InvalidParamsError
from envcore.typing import PyTree

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


def with_integer_limit(env_name: str, params: PyTree, defaults: PyTree) -> PyTree:
    """The params; a time limit that is a float as an integer: infinity, and all that int32 cannot hold, is no limit.

    Args:
      env_name: for the error.
      params: any params.
      defaults: those with the right types. A limit that is a float there is left alone.

    Raises:
      InvalidParamsError: the limit is a Python or numpy float that is not whole, is below 1, or is NaN.
    """
    limit = getattr(params, "max_steps_in_episode", None)
    if isinstance(limit, int) or not _is_float(limit) or _is_float(getattr(defaults, "max_steps_in_episode", None)):
        return params
    if isinstance(limit, jax.Array):  # of unknown value: the first step that reaches 2.5 is the third
        whole = jnp.ceil(limit)
        has_none = whole >= float(NO_TIME_LIMIT)
        return params.replace(max_steps_in_episode=jnp.where(has_none, NO_TIME_LIMIT, whole.astype(jnp.int32)))
    steps = np.asarray(limit, np.float64)
    is_right = (steps == np.floor(steps)) & (steps >= 1)
    if not is_right.all():
        raise InvalidParamsError(
            f"{env_name}'s params.max_steps_in_episode must be a whole number of at least 1, or infinity for none, "
            f"got {steps[~is_right].flat[0]}."
        )
    return params.replace(max_steps_in_episode=np.minimum(steps, NO_TIME_LIMIT).astype(np.int32))


def _is_float(limit: Any) -> bool:
    return isinstance(limit, float) or (hasattr(limit, "dtype") and trees.kind(limit.dtype) == "float")
