"""The space of all values of given types."""

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
    """The space of all values with the given structure, shapes and dtypes.

    Args:
      struct: a tree of arrays or `jax.ShapeDtypeStruct`s, of dataclasses, dicts and tuples.

    Raises:
      TypeError: a leaf is a typed random key.
    """
    if dataclasses.is_dataclass(struct):
        return Dict({field.name: unbounded_space(getattr(struct, field.name)) for field in dataclasses.fields(struct)})
    if isinstance(struct, dict):
        return Dict({name: unbounded_space(part) for name, part in struct.items()})
    if isinstance(struct, tuple | list):
        return Tuple(unbounded_space(part) for part in struct)
    if jnp.issubdtype(struct.dtype, jax.dtypes.prng_key):
        raise TypeError(f"a space cannot hold random keys, got {struct.dtype}: store jax.random.key_data(key) instead")
    if struct.dtype == np.bool_:
        return Box(False, True, struct.shape, struct.dtype)
    if jnp.issubdtype(struct.dtype, jnp.integer):
        info = np.iinfo(struct.dtype)
        low, high = (np.full(struct.shape, bound, struct.dtype) for bound in (info.min, info.max))
        return Box(low, high, struct.shape, struct.dtype)
    return Box(-np.inf, np.inf, struct.shape, struct.dtype)
