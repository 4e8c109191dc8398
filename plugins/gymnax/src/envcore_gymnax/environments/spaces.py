"""gymnax's spaces: envcore's, with the constructors and the bounds of gymnax's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.spaces import Dict as Dict
from envcore.spaces import Space as Space
from envcore.spaces import Tuple as Tuple
from jax.core import Tracer

__all__ = ["Box", "Dict", "Discrete", "Space", "Tuple", "gymnax_space_to_gym_space", "of_envcore"]


class Discrete(spaces.Discrete):
    """The integers {0, ..., n - 1}.

    Args:
      num_categories: n.
      dtype: of a value: int32, or int64 in JAX's x64 mode.

    Raises:
      ValueError: n is not a positive integer, or the dtype is another one.
    """

    def __init__(self, num_categories: int, *, dtype: Any = jnp.int32):
        super().__init__(num_categories)
        try:
            self._dtype = np.dtype(dtype)
        except TypeError as error:
            raise ValueError(f"Discrete dtype must be int32 or int64, got {dtype!r}") from error
        if self._dtype.name not in ("int32", "int64"):
            raise ValueError(f"Discrete dtype must be int32 or int64, got {self._dtype}")
        if self._dtype.name == "int64" and not jax.config.read("jax_enable_x64"):
            raise ValueError("Discrete(dtype=int64) requires JAX x64 mode")

    @property
    def dtype(self) -> np.dtype:
        return self._dtype

    def sample(self, key: jax.Array) -> jax.Array:
        return super().sample(key).astype(self._dtype)


class Box(spaces.Box):
    """Arrays between two bounds, which are kept as they are given: numbers stay numbers.

    Args:
      low: lower bound: a number, or an array that broadcasts to `shape`, or one of any shape whose elements are equal.
      high: upper bound likewise.
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
    """A space of envcore's as gymnax has it: bounds are numbers where all are equal, but for actions of many numbers.

    Args:
      space: any space.
      of_actions: whether it is one of actions.
    """
    if isinstance(space, spaces.Discrete):
        return Discrete(space.n)
    if isinstance(space, spaces.Box):
        keeps_arrays = of_actions and space.shape != (1,)
        low, high = (bound if keeps_arrays else _number(bound) for bound in (space.low, space.high))
        return Box(low, high, space.shape, space.dtype)
    return space


def gymnax_space_to_gym_space(space: Space) -> Any:
    """The space of Gymnasium with the same values; needs envcore-adapters[gymnasium]."""
    from envcore_adapters.gymnasium import to_gymnasium_space

    return to_gymnasium_space(space)


def _fitting(bound: Any, shape: tuple[int, ...]) -> Any:
    """The bound; a number for an array of another shape, as wrappers that reshape observations pass on."""
    return _number(bound) if np.ndim(bound) > 0 and np.shape(bound) != shape else bound


def _number(bound: Any) -> Any:
    """The element of an array whose elements are all equal; any other bound as it is."""
    if isinstance(bound, Tracer):
        return bound
    first = np.ravel(bound)[:1]
    return first[0].item() if first.size and (np.asarray(bound) == first).all() else bound
