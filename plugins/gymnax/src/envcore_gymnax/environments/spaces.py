"""gymnax's spaces, which are envcore spaces with gymnax's constructors and bounds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.spaces import Dict as Dict
from envcore.spaces import Space as Space
from envcore.spaces import Tuple as Tuple
from jax.core import Tracer

__all__ = ["Box", "Dict", "Discrete", "Space", "Tuple", "gymnax_space_to_gym_space", "of_envcore"]


class Discrete(spaces.Discrete):
    """The integers {0, ..., n - 1}, int32.

    Args:
      num_categories: n.
      dtype: must be int32.

    Raises:
      ValueError: n is not a positive integer, or the dtype is not int32.
    """

    def __init__(self, num_categories: int, *, dtype: Any = jnp.int32):
        super().__init__(num_categories)
        if dtype != jnp.int32:
            raise ValueError(f"the dtype of a Discrete must be int32, got {dtype!r}.")


class Box(spaces.Box):
    """Arrays between two bounds. `low` and `high` keep the type you pass, so scalar bounds stay scalars.

    Args:
      low: lower bound, a number, an array that broadcasts to `shape`, or an array of any shape with equal elements.
      high: upper bound, of the same types.
      shape: the shape of a value.
      dtype: the dtype of a value.

    Raises:
      ValueError: the bounds do not broadcast to `shape`, low > high, or `dtype` cannot represent a bound.
    """

    def __init__(self, low: Any, high: Any, shape: Iterable[int], dtype: Any = jnp.float32):
        shape = tuple(shape)
        self._given = _fitting(low, shape), _fitting(high, shape)
        super().__init__(*self._given, shape, dtype)

    @property
    def low(self) -> Any:
        return self._given[0]

    @property
    def high(self) -> Any:
        return self._given[1]


def of_envcore(space: Space, *, of_actions: bool = False) -> Space:
    """Converts an envcore space to gymnax's.

    If all elements of a bound are equal, it becomes a number, except in action spaces with more than one component.

    Args:
      space: any envcore space.
      of_actions: whether this is an action space.
    """
    if isinstance(space, spaces.Discrete):
        return Discrete(space.n)
    if isinstance(space, spaces.Box):
        keeps_arrays = of_actions and space.shape != (1,)
        low, high = (bound if keeps_arrays else _number(bound) for bound in (space.low, space.high))
        return Box(low, high, space.shape, space.dtype)
    return space


def gymnax_space_to_gym_space(space: Space) -> Any:
    """Converts a space to a Gymnasium space. Needs envcore-adapters[gymnasium]."""
    from envcore_adapters.gymnasium import to_gymnasium_space

    return to_gymnasium_space(space)


def _fitting(bound: Any, shape: tuple[int, ...]) -> Any:
    """Converts a bound of the wrong shape to a number, as wrappers that reshape observations pass it on."""
    return _number(bound) if np.ndim(bound) > 0 and np.shape(bound) != shape else bound


def _number(bound: Any) -> Any:
    """Converts an array with equal elements to a number. Other bounds are unchanged."""
    if isinstance(bound, Tracer):
        return bound
    first = np.ravel(bound)[:1]
    return first[0].item() if first.size and (np.asarray(bound) == first).all() else bound
