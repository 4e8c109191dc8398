"""`Discrete` and `MultiDiscrete`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from envcore import options
from envcore.devices import AxisName
from envcore.spaces.base import Space, array_mismatch, sample_integers
from envcore.typing import ArrayParam, PyTree


class Discrete(Space):
    """The integers {0, ..., n - 1}; values are int32 scalars.

    Raises:
      ValueError: n is not a positive integer, or is above 2**31 - 1.
    """

    def __init__(self, n: int):
        self.n = options.positive_integer("n of Discrete", n, at_most=np.iinfo(np.int32).max)

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.int32)

    def sample(self, key: jax.Array) -> jax.Array:
        return sample_integers(key, (), 0, self.n - 1)

    def mismatch(self, value: PyTree) -> str | None:
        return array_mismatch(value, (), integer=True)

    def _within(self, value: PyTree) -> jax.Array:
        value = jnp.asarray(value).astype(jnp.int32)
        return (value >= 0) & (value < self.n)

    def _static(self) -> tuple[Hashable, ...]:
        return (self.n,)

    def __repr__(self) -> str:
        return f"Discrete({self.n})"


class MultiDiscrete(Space):
    """An array of integers, element i in {0, ..., nvec[i] - 1}; values are int32 of nvec's shape.

    Args:
      nvec: the number of values of each element.
      axis_name: as for `batch_space`.

    Raises:
      ValueError: an element of nvec is not a positive integer, or is above 2**31 - 1.
    """

    def __init__(self, nvec: Sequence[int] | Sequence[Sequence[int]] | ArrayParam, axis_name: AxisName | None = None):
        nvec = np.asarray(nvec)
        is_integer = np.issubdtype(nvec.dtype, np.integer) and nvec.size > 0
        if not is_integer or nvec.min() <= 0 or nvec.max() > np.iinfo(np.int32).max:
            raise ValueError(f"MultiDiscrete needs positive integers, got {nvec!r}")
        self.nvec = nvec.astype(np.int32)
        self.axis_name = axis_name

    @property
    def shape(self) -> tuple[int, ...]:
        return self.nvec.shape

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.int32)

    def sample(self, key: jax.Array) -> jax.Array:
        equal = (self.nvec == self.nvec.flat[0]).all()
        high = int(self.nvec.flat[0]) - 1 if equal else self.nvec - 1
        return sample_integers(key, self.shape, 0, high, self.axis_name)

    def mismatch(self, value: PyTree) -> str | None:
        return array_mismatch(value, self.shape, integer=True)

    def _within(self, value: PyTree) -> jax.Array:
        value = jnp.asarray(value).astype(jnp.int32)
        return ((value >= 0) & (value < self.nvec)).all()

    def _static(self) -> tuple[Hashable, ...]:
        return (self.nvec.shape, self.nvec.tobytes(), self.axis_name)

    def __repr__(self) -> str:
        over = "" if self.axis_name is None else f", axis_name={self.axis_name!r}"
        if self.nvec.size <= 8:
            return f"MultiDiscrete({self.nvec.tolist()}{over})"
        low, high = self.nvec.min(), self.nvec.max()
        return f"MultiDiscrete({low if low == high else f'{low} to {high}'}, shape={self.shape}{over})"
