"""The space of everything that has certain types."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envcore.spaces.base import Space
from envcore.spaces.box import Box
from envcore.spaces.composite import Dict, Tuple


def unbounded_space(struct: Any) -> Space:
    """The space of the values with these types, without bounds.

    Args:
      struct: arrays or `jax.ShapeDtypeStruct`, in dataclasses, dicts and tuples.

    Raises:
      TypeError: there is a typed random key among them.
    """
    if dataclasses.is_dataclass(struct):
        return Dict({field.name: unbounded_space(getattr(struct, field.name)) for field in dataclasses.fields(struct)})
    if isinstance(struct, dict):
        return Dict({name: unbounded_space(part) for name, part in struct.items()})
    if isinstance(struct, tuple | list):
        return Tuple(unbounded_space(part) for part in struct)
    if jnp.issubdtype(struct.dtype, jax.dtypes.prng_key):
        raise TypeError(f"no space holds random keys, got {struct.dtype}: keep jax.random.key_data(key) in its place")
    if struct.dtype == np.bool_:
        return Box(False, True, struct.shape, struct.dtype)
    if jnp.issubdtype(struct.dtype, jnp.integer):
        info = np.iinfo(struct.dtype)
        low, high = (np.full(struct.shape, bound, struct.dtype) for bound in (info.min, info.max))
        return Box(low, high, struct.shape, struct.dtype)
    return Box(-np.inf, np.inf, struct.shape, struct.dtype)
