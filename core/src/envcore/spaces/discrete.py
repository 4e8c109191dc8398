"""`Discrete` and `MultiDiscrete`: integers from 0 on, and action masks for them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envcore import checks
from envcore.errors import InvalidArgumentError
from envcore.spaces.base import ArraySpace, Space, array_mismatch, sample_integers
from envcore.spaces.box import Box
from envcore.typing import PyTree


class _Choices(ArraySpace):
    """What the two have in common; `nvec` is the number of values of each element."""

    dtype = np.dtype(np.int32)

    def __init__(self, nvec: Any):
        self.nvec = np.asarray(nvec, np.int32)
        self.shape = self.nvec.shape

    def mismatch(self, value: PyTree) -> str | None:
        return array_mismatch(value, self.shape, "integer")

    def value_problem(self, value: PyTree) -> str | None:
        if isinstance(value, jax.Array):
            return None
        values = np.asarray(value)
        is_right = (values >= 0) & (values < self.nvec)
        return None if is_right.all() else f"got {values[~is_right].flat[0]}"

    def _within(self, value: PyTree) -> jax.Array:
        if not isinstance(value, jax.Array):  # compared as wide as it is
            value = np.asarray(value)
            return jnp.asarray(((value >= 0) & (value < self.nvec)).all())
        wide = value.astype(jnp.int64 if value.dtype.itemsize == 8 else jnp.int32)
        return ((wide >= 0) & (wide < self.nvec.astype(wide.dtype))).all()

    def sample_legal(self, key: jax.Array, mask: PyTree) -> jax.Array:
        mask = jnp.asarray(mask, jnp.bool_)
        if self.masks_combinations(mask.shape):
            chosen = _choose(key, mask.ravel(), np.ones(mask.size, bool))
            return jnp.stack(jnp.unravel_index(chosen, mask.shape)).astype(self.dtype)
        return _choose(key, mask, self.mask_entries())

    def masks_combinations(self, shape: tuple[int, ...]) -> bool:
        """Whether action masks of a shape have an entry for each combination of the values of a `MultiDiscrete`.

        If not, they have a row for each element, or are those of a `Discrete`; see `sample_legal`.

        Raises:
          InvalidArgumentError: the space's masks cannot have this shape.
        """
        rows = (*self.shape, int(self.nvec.max()))
        joint = tuple(self.nvec.tolist()) if self.nvec.ndim == 1 else rows
        if shape in (rows, joint):
            return shape != rows
        raise InvalidArgumentError(
            f"the mask of {self!r} must have shape {joint if joint == rows else f'{joint} or {rows}'}, got {shape}."
        )

    def mask_entries(self) -> np.ndarray:
        """Which entries of an action mask with a row for each element stand for one of its values, bool like the mask.

        Rows are as long as the element with the most values needs. The mask of a `Discrete` is one row.
        """
        return np.arange(self.nvec.max()) < self.nvec[..., None]

    def flat_space(self) -> Box:
        return Box(0.0, 1.0, (int(self.nvec.sum()),))

    def flatten(self, value: PyTree) -> jax.Array:
        elements = zip(self.nvec.flat, value.reshape(-1), strict=True)
        return jnp.concatenate([jax.nn.one_hot(x, int(n), dtype=jnp.float32) for n, x in elements])


class Discrete(_Choices):
    """The integers {0, ..., n - 1}; values are int32 scalars.

    Raises:
      ValueError: n is not a positive integer, or is above 2**31 - 1.
    """

    def __init__(self, n: int):
        self.n = checks.positive_integer("n of Discrete", n, at_most=np.iinfo(np.int32).max)
        super().__init__(self.n)

    def _sample(self, key: jax.Array) -> jax.Array:
        return sample_integers(key, (), 0, self.n - 1)

    def value_problem(self, value: PyTree) -> str | None:
        if isinstance(value, (int, np.integer)):  # numpy takes longer, as does a union
            return None if 0 <= value < self.n else f"got {value}"
        return None if isinstance(value, jax.Array) else super().value_problem(value)

    def batch(self, num: int) -> MultiDiscrete:
        return MultiDiscrete(np.full(checks.positive_integer("num", num), self.n))

    def flatten(self, value: PyTree) -> jax.Array:
        return jax.nn.one_hot(value, self.n, dtype=jnp.float32)

    def _static(self) -> tuple[PyTree, ...]:
        return (self.n,)

    def __repr__(self) -> str:
        return f"Discrete({self.n})"


class MultiDiscrete(_Choices):
    """An array of integers, element i in {0, ..., nvec[i] - 1}; values are int32 of nvec's shape.

    Args:
      nvec: the number of values of each element.

    Raises:
      ValueError: an element of nvec is not a positive integer, or is above 2**31 - 1.
    """

    def __init__(self, nvec: Any):
        nvec = np.asarray(nvec)
        is_integer = np.issubdtype(nvec.dtype, np.integer) and nvec.size > 0
        if not is_integer or nvec.min() <= 0 or nvec.max() > np.iinfo(np.int32).max:
            raise ValueError(f"MultiDiscrete needs positive integers, got {nvec!r}")
        super().__init__(nvec)

    def _sample(self, key: jax.Array) -> jax.Array:
        equal = (self.nvec == self.nvec.flat[0]).all()
        high = int(self.nvec.flat[0]) - 1 if equal else self.nvec - 1
        return sample_integers(key, self.shape, 0, high)

    def batch(self, num: int) -> MultiDiscrete:
        num = checks.positive_integer("num", num)
        return MultiDiscrete(np.broadcast_to(self.nvec, (num, *self.shape)))

    def unbatch(self) -> Space:
        return Discrete(int(self.nvec[0])) if self.nvec.ndim == 1 else MultiDiscrete(self.nvec[0])

    def _static(self) -> tuple[PyTree, ...]:
        return (self.nvec.shape, self.nvec.tobytes())

    def __repr__(self) -> str:
        if self.nvec.size <= 8:
            return f"MultiDiscrete({self.nvec.tolist()})"
        low, high = self.nvec.min(), self.nvec.max()
        return f"MultiDiscrete({low if low == high else f'{low} to {high}'}, shape={self.shape})"


def _choose(key: jax.Array, mask: jax.Array, exists: np.ndarray) -> jax.Array:
    """The index, along the last axis, of one entry of a mask that is True; of any that exists where none is."""
    legal = mask & exists
    legal = jnp.where(legal.any(-1, keepdims=True), legal, exists)
    rank = sample_integers(key, legal.shape[:-1], 0, legal.sum(-1, dtype=jnp.int32) - 1)
    return jnp.argmax(jnp.cumsum(legal, -1, dtype=jnp.int32) > rank[..., None], -1).astype(jnp.int32)
