"""Conversions between envcore's and Gymnasium's spaces."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import gymnasium
import jax
import numpy as np
from envcore import spaces
from envcore.errors import InvalidArgumentError
from jax.core import Tracer


def to_gymnasium_space(space: spaces.Space) -> gymnasium.Space[Any]:
    """Converts an envcore space to a Gymnasium space with the same values, shapes and dtypes.

    The exception is `Discrete`, which is int64 in Gymnasium.

    Raises:
      InvalidArgumentError: a bound is traced by `jit` or `vmap`, or the space has a type that envcore does not define.
    """
    match space:
        case spaces.Discrete():
            return gymnasium.spaces.Discrete(space.n)
        case spaces.MultiDiscrete():
            return gymnasium.spaces.MultiDiscrete(space.nvec, dtype=np.int32)
        case spaces.Box():
            if isinstance(space.low, Tracer) or isinstance(space.high, Tracer):
                raise InvalidArgumentError(f"Gymnasium's spaces need concrete bounds, got {space!r}.")
            low, high = (np.full(space.shape, bound, space.dtype) for bound in (space.low, space.high))
            return gymnasium.spaces.Box(low, high, space.shape, space.dtype.type)
        case spaces.Tuple():
            return gymnasium.spaces.Tuple([to_gymnasium_space(part) for part in space.spaces])
        case spaces.Dict():
            return gymnasium.spaces.Dict({name: to_gymnasium_space(part) for name, part in space.spaces.items()})
        case _:
            raise InvalidArgumentError(f"only envcore's spaces have a counterpart in Gymnasium, got {space!r}.")


def widener(space: spaces.Space) -> Callable[[Any], Any] | None:
    """Returns a function that converts the `Discrete` parts of numpy observations to int64, as Gymnasium expects.

    None if the space has no `Discrete` parts. The function works for batches of observations too.
    """

    def discrete_parts(space: spaces.Space) -> Any:
        if isinstance(space, spaces.Tuple):
            return tuple(map(discrete_parts, space.spaces))
        if isinstance(space, spaces.Dict):
            return {name: discrete_parts(part) for name, part in space.spaces.items()}
        return isinstance(space, spaces.Discrete)

    are_discrete = jax.tree.leaves(discrete_parts(space))
    return functools.partial(_widened, are_discrete) if any(are_discrete) else None


def _widened(are_discrete: list[bool], obs: Any) -> Any:
    leaves, structure = jax.tree.flatten(obs)
    # `np.int64` converts an array of shape () to a scalar.
    wide = [np.int64(leaf) if it_is else leaf for leaf, it_is in zip(leaves, are_discrete, strict=True)]
    return structure.unflatten(wide)


def mask_entries(space: spaces.Space, mask: Any) -> np.ndarray[Any, Any] | None:
    """Returns which entries of an action mask belong to a value of a component, bool with the shape of the mask.

    None if `mask` is None, or if it masks combinations of components.
    """
    if mask is None or not isinstance(space, spaces.Discrete | spaces.MultiDiscrete):
        return None
    return None if space.masks_combinations(mask.shape) else space.mask_entries()


def from_gymnasium_space(space: gymnasium.Space[Any]) -> spaces.Space:
    """Converts a Gymnasium space to an envcore space with the same values and shapes.

    64-bit integers and floats become 32-bit ones.

    Raises:
      InvalidArgumentError: envcore has no such space. This applies to a `Discrete` or `MultiDiscrete` that does not
        start at 0, `Text`, `Graph`, `Sequence`, `OneOf`, a `Dict` whose keys are not strings, and bounds that do not
        fit in 32 bits.
    """
    match space:
        case gymnasium.spaces.Discrete() if space.start == 0:
            return spaces.Discrete(int(space.n))
        case gymnasium.spaces.MultiDiscrete() if not np.any(space.start):
            return spaces.MultiDiscrete(space.nvec)
        case gymnasium.spaces.MultiBinary():
            return spaces.Box(0, 1, space.shape, np.int8)
        case gymnasium.spaces.Box():
            return _from_box(space)
        case gymnasium.spaces.Tuple():
            return spaces.Tuple(from_gymnasium_space(part) for part in space.spaces)
        case gymnasium.spaces.Dict() if all(isinstance(name, str) for name in space.spaces):
            return spaces.Dict({name: from_gymnasium_space(part) for name, part in space.spaces.items()})
        case _:
            raise InvalidArgumentError(
                f"envcore has no counterpart of {space!r}: it has Discrete and MultiDiscrete that start at 0, Box, "
                "Tuple and Dict."
            )


def _from_box(space: gymnasium.spaces.Box[Any]) -> spaces.Box:
    dtype = np.dtype(space.dtype)
    narrow = np.dtype(f"{dtype.kind}4") if dtype.itemsize > 4 else dtype
    low, high = space.low, space.high
    if narrow != dtype and dtype.kind in "iu":  # Gymnasium uses the smallest and largest integer for "no bound"
        wide, info = np.iinfo(dtype), np.iinfo(narrow)
        low, high = np.where(low == wide.min, info.min, low), np.where(high == wide.max, info.max, high)
    elif narrow != dtype:
        wide, info = np.finfo(dtype), np.finfo(narrow)
        low, high = np.where(low == wide.min, info.min, low), np.where(high == wide.max, info.max, high)
    try:
        return spaces.Box(low, high, space.shape, narrow)
    except ValueError as error:
        raise InvalidArgumentError(f"envcore has no counterpart of {space!r}: {error}") from error
