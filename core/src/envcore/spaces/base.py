"""`Space`, and what its subclasses share."""

from __future__ import annotations

import copy
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from envcore import random, trees
from envcore.devices import AxisName, axis_size, share_of
from envcore.errors import InvalidArgumentError
from envcore.typing import PyTree


class Space:
    """The base class of all spaces."""

    shape: PyTree
    """The shape of one value; for `Tuple` and `Dict` the shapes of their parts."""

    dtype: PyTree
    """The dtype of one value; for `Tuple` and `Dict` the dtypes of their parts."""

    axis_name: AxisName | None = None
    """Of the mapped axis over devices, if a value is one device's share of a batch; see `over_devices`."""

    def sample(self, key: jax.Array) -> PyTree:
        """Returns a random value."""
        if self.axis_name is None:
            return self._sample(key)
        num = jax.tree.leaves(self.shape)[0]
        whole = self.unbatch().batch(num * axis_size(self.axis_name))
        return share_of(whole.sample(key), num, self.axis_name)

    def _sample(self, key: jax.Array) -> PyTree:
        raise NotImplementedError

    def mismatch(self, value: PyTree) -> str | None:
        """Describes what is wrong with a value's structure, shape or kind of dtype; None if nothing is.

        It looks at types only, so it also works on tracers.
        """
        raise NotImplementedError

    def value_problem(self, value: PyTree) -> str | None:
        """Describes a number that the space's dtype cannot hold or that no discrete space has; None if there is none.

        The value has no `mismatch`. A JAX array is not looked at: reading it would wait for the device. Nor are finite
        numbers outside a `Box`'s bounds a problem here: what happens to such an action is up to an environment's rules.
        """
        return None

    def contains(self, value: PyTree) -> jax.Array:
        """Whether `value` is in the space: bool, shape ()."""
        if self.mismatch(value) is not None:
            return jnp.array(False)
        return self._within(value)

    def cast(self, value: PyTree) -> PyTree:
        """The value with exactly the space's dtypes: what a JAX array is stays one, all else becomes a numpy array.

        The value has no `mismatch`. A float that is too large for the dtype becomes infinite, an integer in a JAX array
        the dtype's lowest or highest.
        """
        raise NotImplementedError

    def sample_legal(self, key: jax.Array, mask: PyTree) -> jax.Array:
        """Returns a random value among those that an action mask allows; among all values where it allows none.

        Args:
          key: a random key.
          mask: bool, True for legal. For `Discrete(n)` of shape (n,). For `MultiDiscrete(nvec)` either of shape nvec,
            an entry for each combination of values; or of nvec's shape and one axis more, a row for each element, which
            it also is where the two shapes are equal.

        Raises:
          InvalidArgumentError: the space is neither `Discrete` nor `MultiDiscrete`, or the mask has another shape.
        """
        del key, mask
        raise InvalidArgumentError(f"a mask can only be used with a Discrete or MultiDiscrete space, got {self!r}.")

    def batch(self, num: int) -> Space:
        """The space of batches of `num` values, stacked along a new first axis; it samples a whole batch at once.

        Raises:
          ValueError: num is not a positive integer.
        """
        raise NotImplementedError

    def over_devices(self, axis_name: AxisName | None) -> Self:
        """This batch space as one device's share, for use inside `jax.shard_map` or `jax.pmap`.

        The devices along the axis, all with the same key, together sample a batch that is as many times as large.
        """
        share = copy.copy(self)
        share.axis_name = axis_name
        return share

    def unbatch(self) -> Space:
        """The space of one value of a batch: undoes `batch`.

        Raises:
          TypeError: the space has no batch axis.
        """
        raise TypeError(f"expected a space with a batch axis, got {self!r}")

    def flat_space(self) -> Any:
        """The `Box` of what `flatten` returns."""
        raise NotImplementedError

    def flatten(self, value: PyTree) -> jax.Array:
        """The value as a vector.

        A `Box` keeps its dtype. `Discrete` and `MultiDiscrete` become one-hot, float32. The parts of `Tuple` and `Dict`
        (in the order of names) are joined as float32.
        """
        raise NotImplementedError

    def _within(self, value: PyTree) -> jax.Array:
        raise NotImplementedError

    def _static(self) -> tuple[PyTree, ...]:
        """The values that `==` and `hash` compare."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[PyTree, ...]:
        return type(self), self.axis_name, self._static()


class ArraySpace(Space):
    """The base class of spaces whose values are single arrays."""

    def cast(self, value: PyTree) -> PyTree:
        if isinstance(value, jax.Array):
            is_exact = value.dtype == self.dtype and not value.weak_type  # pyright: ignore[reportAttributeAccessIssue]
            return value if is_exact else _without_wrapping(value, self.dtype)
        if isinstance(value, np.ndarray) and value.dtype != self.dtype:
            with np.errstate(over="ignore", invalid="ignore"):
                return value.astype(self.dtype)
        return np.asarray(value, self.dtype)  # `jit` takes it to the device, at a tenth of the time of `jnp.asarray`


def _without_wrapping(value: jax.Array, dtype: Any) -> jax.Array:
    """The array in another dtype; an integer beyond it stays outside the space, as if nothing had been lost."""
    if trees.kind(dtype) == trees.kind(value.dtype) == "integer":
        to, of = jnp.iinfo(dtype), jnp.iinfo(value.dtype)
        value = jnp.clip(value, max(to.min, of.min), min(to.max, of.max))
    return jnp.asarray(value, dtype)


def sample_integers(key: jax.Array, shape: tuple[int, ...], low: Any, high: Any) -> jax.Array:
    """Returns int32, uniform on [low, high], both included; for uint32 bounds, cast the result to uint32."""
    if not isinstance(low, jax.Array) and not isinstance(high, jax.Array):
        count = np.asarray(high, np.int64) - np.asarray(low, np.int64) + 1
        if count.max(initial=0) <= 2**16:
            numbers = random.integers(random.bits(key, shape), count.astype(np.uint32))
            return numbers + np.asarray(low).astype(np.int32)
    low, high = jnp.asarray(low).astype(jnp.int32), jnp.asarray(high).astype(jnp.int32)
    count = (high - low).astype(jnp.uint32) + jnp.uint32(1)  # modulo 2**32: 0 means all 2**32 values
    key_all, key_some = random.split(key)
    everything = random.bits(key_all, shape)
    some = jax.random.randint(key_some, shape, jnp.uint32(0), count, jnp.uint32)
    return low + jnp.where(count == 0, everything, some).astype(jnp.int32)


def array_mismatch(value: PyTree, shape: tuple[int, ...], kind: str) -> str | None:
    """Describes why a value is not an array of this shape and kind, "bool", "integer" or "float"; None if it is."""
    if not isinstance(value, jax.Array | np.ndarray | np.generic | bool | int | float):
        return f"expected an array, got {describe(value)}"
    dtype = value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype  # pyright: ignore[reportAttributeAccessIssue]
    if np.shape(value) != shape:
        return f"expected shape {shape}, got {np.shape(value)}"
    if trees.kind(dtype) in trees.CONVERTIBLE[kind]:
        return None
    expected = {"bool": "bool", "integer": "an integer"}.get(kind, "a real number")
    return f"expected {expected}, got {dtype}"


def describe(value: PyTree) -> str:
    return repr(value) if isinstance(value, bool | int | float | str) else type(value).__name__
