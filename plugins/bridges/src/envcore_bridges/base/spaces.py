"""Convert the spaces of libraries that follow Gymnasium."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from envcore import spaces, trees
from envcore.errors import InvalidArgumentError
from jax.core import Tracer


def space_like(declared: Any, struct: Any) -> spaces.Space:
    """Converts a space to an envcore space. Returns an unbounded space if the library does not declare one.

    Args:
      declared: a space with the attributes of Gymnasium's and gymnax's spaces, or None.
      struct: shapes and dtypes of actual values, which override the declared ones. None to trust the declared space.
    """
    if struct is not None and (declared is None or not _fits(declared, struct)):
        return spaces.unbounded_space(struct)
    parts = getattr(declared, "spaces", None)
    if parts is not None and type(declared).__name__ != "OneOf":
        if isinstance(parts, Mapping):
            return spaces.Dict(
                {name: space_like(part, None if struct is None else struct[name]) for name, part in parts.items()}
            )
        structs = [None] * len(parts) if struct is None else struct
        return spaces.Tuple(space_like(part, each) for part, each in zip(parts, structs, strict=True))
    if hasattr(declared, "low"):
        return _box(declared, struct)
    if hasattr(declared, "nvec"):
        return spaces.MultiDiscrete(np.asarray(declared.nvec))
    if type(declared).__name__ == "MultiBinary":
        return spaces.Box(0, 1, declared.shape, declared.dtype)
    if hasattr(declared, "n"):
        if struct is None or struct.shape == ():
            return spaces.Discrete(int(declared.n))
        return spaces.Box(0, int(declared.n) - 1, struct.shape, struct.dtype)
    raise InvalidArgumentError(f"envcore has no space like {declared}.")


def _fits(declared: Any, struct: Any) -> bool:
    parts = getattr(declared, "spaces", None)
    if isinstance(parts, Mapping):
        return isinstance(struct, dict) and set(parts) == set(struct)
    if parts is not None:
        return isinstance(struct, tuple) and len(parts) == len(struct)
    return hasattr(struct, "shape") and tuple(declared.shape) == struct.shape


def _box(declared: Any, struct: Any) -> spaces.Space:
    shape = tuple(declared.shape)
    dtype = np.dtype(declared.dtype) if struct is None else np.dtype(struct.dtype)
    if dtype == np.bool_:
        return spaces.Box(False, True, shape, dtype)
    dtype = np.dtype(trees.NARROW.get(dtype.name, dtype))
    low, high = (
        bound if isinstance(bound, Tracer) else _within(bound, dtype) for bound in (declared.low, declared.high)
    )
    return spaces.Box(low, high, shape, dtype)


def _within(bound: Any, dtype: np.dtype[Any]) -> Any:
    """Clips a bound to the range of an integer dtype. Bounds beyond the range of a float dtype become infinite."""
    bound = np.asarray(bound)
    if dtype.kind not in "iu":
        return np.where(np.abs(bound) > np.finfo(dtype).max, np.copysign(np.inf, bound), bound)
    info = np.iinfo(dtype)
    return np.clip(bound.astype(np.float64), info.min, info.max).astype(dtype)
