"""`Space`, and helpers that its subclasses share."""

from __future__ import annotations

from collections.abc import Hashable

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from envcore import random, trees
from envcore.devices import AxisName, axis_size, share_of
from envcore.typing import PyTree


class Space:
    """The base class of all spaces."""

    @property
    def shape(self) -> PyTree:
        """The shape of one value; for `Tuple` and `Dict` the shapes of their parts."""
        raise NotImplementedError

    @property
    def dtype(self) -> PyTree:
        """The dtype of one value; for `Tuple` and `Dict` the dtypes of their parts."""
        raise NotImplementedError

    def sample(self, key: jax.Array) -> PyTree:
        """Returns a random value."""
        raise NotImplementedError

    def mismatch(self, value: PyTree) -> str | None:
        """Describes what is wrong with a value's structure, shape or kind of dtype; None if nothing is.

        It looks at types only, so it also works on tracers.
        """
        raise NotImplementedError

    def contains(self, value: PyTree) -> jax.Array:
        """Whether `value` is in the space: bool, shape ()."""
        if self.mismatch(value) is not None:
            return jnp.array(False)
        return self._within(value)

    def _within(self, value: PyTree) -> jax.Array:
        raise NotImplementedError

    def _static(self) -> tuple[Hashable, ...]:
        """The values that `==` and `hash` compare."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and type(self) is type(other) and self._static() == other._static()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._static()))


def sample_integers(
    key: jax.Array, shape: tuple[int, ...], low: ArrayLike, high: ArrayLike, axis_name: AxisName | None = None
) -> jax.Array:
    """Returns int32, uniform on [low, high], both included; for uint32 bounds, cast the result to uint32."""
    if not isinstance(low, jax.Array) and not isinstance(high, jax.Array):
        count = np.asarray(high, np.int64) - np.asarray(low, np.int64) + 1
        if count.max(initial=0) <= 2**16:
            return random.below(random.bits(key, shape, axis_name), count.astype(np.uint32)) + np.asarray(low).astype(
                np.int32
            )
    low, high = jnp.asarray(low).astype(jnp.int32), jnp.asarray(high).astype(jnp.int32)
    count = (high - low).astype(jnp.uint32) + jnp.uint32(1)  # modulo 2**32: 0 means all 2**32 values
    key_all, key_some = random.split(key)
    everything = random.bits(key_all, shape, axis_name)
    if axis_name is None:
        some = jax.random.randint(key_some, shape, jnp.uint32(0), count, jnp.uint32)
    else:  # in a batch the bounds of all rows are equal
        whole = (shape[0] * axis_size(axis_name), *shape[1:])
        count = jnp.broadcast_to(count, shape)
        drawn = jax.random.randint(key_some, whole, jnp.uint32(0), count[:1], jnp.uint32)
        some = share_of(drawn, shape[0], axis_name)
    return low + jnp.where(count == 0, everything, some).astype(jnp.int32)


def array_mismatch(value: PyTree, shape: tuple[int, ...], integer: bool = False, boolean: bool = False) -> str | None:
    if not isinstance(value, jax.Array | np.ndarray | np.generic | bool | int | float):
        return f"expected an array, got {describe(value)}"
    dtype = np.asarray(value).dtype if isinstance(value, bool | int | float) else value.dtype
    if np.shape(value) != shape:
        return f"expected shape {shape}, got {np.shape(value)}"
    allowed = ("bool",) if boolean else ("integer",) if integer else ("integer", "float")
    if trees.kind(dtype) not in allowed:
        expected = "bool" if boolean else "an integer" if integer else "a real number"
        return f"expected {expected}, got {dtype}"
    return None


def describe(value: PyTree) -> str:
    return repr(value) if isinstance(value, bool | int | float | str) else type(value).__name__
