"""Spaces: the sets of valid actions, observations and states.

A space describes its elements (`shape`, `dtype`, bounds). `sample` returns a random element, and `contains` checks
whether a value is one. Both work under `jit` and `vmap`, and `contains(sample(key))` is always true. Spaces compare by
value. Bounds can be traced, so they can depend on an environment's params.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from envcore import checks, random, trees
from envcore.devices import AxisName, axis_size, share_of
from envcore.errors import InvalidArgumentError
from envcore.typing import PyTree


class Space:
    """Base class of all spaces."""

    shape: PyTree
    """Shape of an element. For `Tuple` and `Dict`, the shapes of their parts."""

    dtype: PyTree
    """Dtype of an element. For `Tuple` and `Dict`, the dtypes of their parts."""

    axis_name: AxisName | None = None
    """Name of the mapped device axis if elements are one device's share of a batch. See `over_devices`."""

    def sample(self, key: jax.Array) -> PyTree:
        """Returns a random element."""
        if self.axis_name is None:
            return self._sample(key)
        num = jax.tree.leaves(self.shape)[0]
        whole = self.unbatch().batch(num * axis_size(self.axis_name))
        return share_of(whole.sample(key), num, self.axis_name)

    def _sample(self, key: jax.Array) -> PyTree:
        raise NotImplementedError

    def mismatch(self, value: PyTree) -> str | None:
        """Describes what is wrong with a value's structure, shape or kind of dtype. Returns None if all are right.

        This checks types only, so it works on tracers.
        """
        raise NotImplementedError

    def value_problem(self, value: PyTree) -> str | None:
        """Describes a number that does not fit the dtype or is not in a discrete space. Returns None if there is none.

        The value must have no `mismatch`. JAX arrays are not checked, because that would block on the device. Finite
        numbers outside the bounds of a `Box` are allowed here. The environment's rules decide what they mean.
        """
        return None

    def contains(self, value: PyTree) -> jax.Array:
        """Returns whether `value` is an element of the space: bool ()."""
        if self.mismatch(value) is not None:
            return jnp.array(False)
        return self._within(value)

    def cast(self, value: PyTree) -> PyTree:
        """Casts a value to the space's dtypes. JAX arrays stay JAX arrays, everything else becomes a numpy array.

        The value must have no `mismatch`. Floats that are too large for the dtype become infinite. Integers in JAX
        arrays are clipped to the range of the dtype.
        """
        raise NotImplementedError

    def sample_legal(self, key: jax.Array, mask: PyTree) -> jax.Array:
        """Returns a random element that an action mask allows. If it allows none, samples from all elements.

        Args:
          key: a random key.
          mask: bool, True for legal. Shape (n,) for `Discrete(n)`. For `MultiDiscrete(nvec)`, either shape nvec, with
            an entry for each combination of values, or the shape of nvec plus one axis, with a row for each element.
            Where the two shapes are equal, rows are assumed.

        Raises:
          InvalidArgumentError: the space is neither `Discrete` nor `MultiDiscrete`, or the mask has another shape.
        """
        raise InvalidArgumentError(f"a mask can only be used with a Discrete or MultiDiscrete space, got {self!r}.")

    def batch(self, num: int) -> Space:
        """Returns the space of batches of `num` elements, stacked along a new first axis.

        Its `sample` draws the whole batch at once.

        Raises:
          ValueError: num is not a positive integer.
        """
        raise NotImplementedError

    def over_devices(self, axis_name: AxisName | None) -> Self:
        """Returns one device's share of this batch space, for use inside `jax.shard_map` or `jax.pmap`.

        When all devices along the axis get the same key, their samples are the parts of one larger batch.
        """
        share = copy.copy(self)
        share.axis_name = axis_name
        return share

    def unbatch(self) -> Space:
        """Returns the space of one element of a batch, the inverse of `batch`.

        Raises:
          TypeError: the space has no batch axis.
        """
        raise TypeError(f"expected a space with a batch axis, got {self!r}")

    def flat_space(self) -> Any:
        """Returns the `Box` that contains the results of `flatten`."""
        raise TypeError(f"{self!r} cannot be flattened")

    def flatten(self, value: PyTree) -> jax.Array:
        """Returns the value as a vector.

        A `Box` keeps its dtype. `Discrete` and `MultiDiscrete` become one-hot, float32. The parts of `Tuple` and `Dict`
        (sorted by name) are concatenated as float32.

        Raises:
          TypeError: the space is a `Tree`.
        """
        raise TypeError(f"{self!r} cannot be flattened")

    def _within(self, value: PyTree) -> jax.Array:
        raise NotImplementedError

    def _static(self) -> tuple[PyTree, ...]:
        """Returns what `==` and `hash` compare."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[PyTree, ...]:
        return type(self), self.axis_name, self._static()


class ArraySpace(Space):
    """Base class of spaces whose elements are single arrays."""

    def cast(self, value: PyTree) -> PyTree:
        if isinstance(value, jax.Array):
            is_exact = value.dtype == self.dtype and not value.weak_type  # pyright: ignore[reportAttributeAccessIssue]
            return value if is_exact else _without_wrapping(value, self.dtype)
        if isinstance(value, np.ndarray) and value.dtype != self.dtype:
            with np.errstate(over="ignore", invalid="ignore"):
                return value.astype(self.dtype)
        return np.asarray(value, self.dtype)  # ten times faster than `jnp.asarray`, and `jit` transfers it anyway


class Box(ArraySpace):
    """Arrays between two bounds, both included.

    Floats with two bounds are sampled uniformly. Floats with one bound are sampled from an exponential distribution
    that starts at the bound, and floats without bounds from a normal distribution. Integers are sampled uniformly.

    Args:
      low: lower bound: a number, an array that broadcasts to `shape`, or a list of numbers. It can be -inf, and can be
        traced. A JAX array that is not traced is copied to the host to check its values.
      high: upper bound, in the same forms. It can be inf.
      shape: shape of an element, by default the broadcast shape of the bounds.
      dtype: dtype of an element: bool, or an integer or float dtype of at most 32 bits.

    Raises:
      ValueError: the bounds do not broadcast to `shape`, low > high, or `dtype` cannot represent a bound.
      TypeError: `dtype` is not supported.
    """

    def __init__(self, low: Any, high: Any, shape: Iterable[int] | None = None, dtype: Any = jnp.float32):
        self.dtype = np.dtype(dtype)
        if trees.kind(self.dtype) not in ("bool", "integer", "float") or self.dtype.itemsize > 4:
            raise TypeError(f"a Box holds bools, integers or floats of at most 32 bits, got {self.dtype}")
        self.shape = tuple(shape) if shape is not None else np.broadcast_shapes(_shape(low), _shape(high))
        self._low, self._high = self._bound(low), self._bound(high)
        if isinstance(self._low, np.ndarray) and isinstance(self._high, np.ndarray):
            low, high = _distinct(self._low), _distinct(self._high)
            if not ((low <= high) & (low < np.inf) & (high > -np.inf)).all():
                bounds = f"low={_short(self._low)}, high={_short(self._high)}"
                raise ValueError(f"Box needs low <= high, and a finite number from low to high, got {bounds}")

    def _bound(self, bound: Any) -> PyTree:
        if isinstance(bound, list | tuple) and any(isinstance(x, Tracer) for x in bound):
            bound = jnp.stack([jnp.asarray(x, self.dtype) for x in bound])
        if isinstance(bound, Tracer):
            return jnp.broadcast_to(bound.astype(self.dtype), self.shape)
        values = np.array(bound)  # a copy, which the caller cannot change
        cast = self.cast(values)
        is_float = jnp.issubdtype(self.dtype, jnp.floating)
        if (np.isinf(cast) & ~np.isinf(values) if is_float else cast != values).any():
            raise ValueError(f"a Box of {self.dtype} cannot hold the bound {_short(values)}")
        return np.broadcast_to(cast, self.shape)

    @property
    def low(self) -> PyTree:
        """The lower bound, broadcast to `shape`: a numpy array, or a JAX array if it is traced."""
        return self._low

    @property
    def high(self) -> PyTree:
        """The upper bound, in the same form."""
        return self._high

    def _sample(self, key: jax.Array) -> jax.Array:
        if self.dtype.kind in "biu":
            return _sample_integers(key, self.shape, self._low, self._high).astype(self.dtype)
        concrete = isinstance(self._low, np.ndarray) and isinstance(self._high, np.ndarray)
        if concrete and np.isfinite(_distinct(self._low)).all() and np.isfinite(_distinct(self._high)).all():
            unit = random.unit(random.bits(key, self.shape))
            return _between(unit, self._low, self._high).astype(self.dtype)
        return self._sample_unbounded(key)

    def _sample_unbounded(self, key: jax.Array) -> jax.Array:
        low, high = jnp.asarray(self._low, jnp.float32), jnp.asarray(self._high, jnp.float32)
        unit = random.unit(random.bits(key, self.shape))
        tail = -jnp.log1p(-unit)  # exponential with mean 1
        has_low, has_high = jnp.isfinite(low), jnp.isfinite(high)
        finite_low, finite_high = jnp.where(has_low, low, 0), jnp.where(has_high, high, 0)
        bounded = _between(unit, finite_low, jnp.where(has_high, high, finite_low))
        one_sided = jnp.where(has_low, finite_low + tail, finite_high - tail)
        # Inverse CDF of the normal distribution. `unit` is shifted to the midpoints of its steps to avoid 0 and 1.
        free = np.float32(np.sqrt(2)) * lax.erf_inv(2 * unit - np.float32(1 - 2**-23))
        value = jnp.where(has_low & has_high, bounded, jnp.where(has_low | has_high, one_sided, free))
        return jnp.clip(value, low, high).astype(self.dtype)

    def mismatch(self, value: PyTree) -> str | None:
        return _array_mismatch(value, self.shape, trees.kind(self.dtype))

    def value_problem(self, value: PyTree) -> str | None:
        if isinstance(value, jax.Array):
            return None
        values = np.asarray(value)
        held = self.cast(values)
        is_integer = self.dtype.kind in "iu"
        is_right = held == values if is_integer else np.isfinite(held)
        if is_right.all():
            return None
        return f"got {values[~is_right].flat[0]}" + ("" if is_integer else f", which is not finite as {self.dtype}")

    def _within(self, value: PyTree) -> jax.Array:
        if not isinstance(value, jax.Array):
            value = np.asarray(value)
        with np.errstate(over="ignore"):
            cast = value.astype(self.dtype)
        within = (cast >= self._low) & (cast <= self._high)
        if self.dtype.kind in "iu":  # a wider integer could wrap around into the bounds
            within &= (cast.astype(value.dtype) == value) & ((cast < 0) == (value < 0))
        elif self.dtype != np.bool_:  # a wider float could overflow to infinity
            within &= (abs(cast) < np.inf) | (abs(value) == np.inf)
        return jnp.asarray(within.all())

    def batch(self, num: int) -> Box:
        num = checks.positive_integer("num", num)
        return Box(self._low, self._high, (num, *self.shape), self.dtype)

    def unbatch(self) -> Space:
        return Box(self._low[0], self._high[0], self.shape[1:], self.dtype) if self.shape else super().unbatch()

    def flat_space(self) -> Box:
        return Box(self._low.reshape(-1), self._high.reshape(-1), None, self.dtype)

    def flatten(self, value: PyTree) -> jax.Array:
        return jnp.asarray(value).reshape(-1)

    def _static(self) -> tuple[PyTree, ...]:
        return (self.shape, self.dtype.name, _bytes(self._low), _bytes(self._high))

    def __repr__(self) -> str:
        return f"Box({_short(self._low)}, {_short(self._high)}, {self.shape}, {self.dtype.name})"


def symmetric_box(high: Iterable[Any]) -> Box:
    """Returns the `Box` of float32 vectors with -high <= x <= high."""
    # Uses numpy if possible, because under `jit` even the negative of a concrete JAX array would be traced.
    high = [x if isinstance(x, Tracer) else np.asarray(x) for x in high]
    return Box([-x for x in high], high)


class _Choices(ArraySpace):
    """Base class of `Discrete` and `MultiDiscrete`. `nvec` is the number of values of each element."""

    dtype = np.dtype(np.int32)

    def __init__(self, nvec: Any):
        self.nvec = np.array(nvec, np.int32)
        self.shape = self.nvec.shape

    def mismatch(self, value: PyTree) -> str | None:
        return _array_mismatch(value, self.shape, "integer")

    def value_problem(self, value: PyTree) -> str | None:
        if isinstance(value, jax.Array):
            return None
        values = np.asarray(value)
        is_right = (values >= 0) & (values < self.nvec)
        return None if is_right.all() else f"got {values[~is_right].flat[0]}"

    def _within(self, value: PyTree) -> jax.Array:
        if not isinstance(value, jax.Array):  # compared in its own width
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
        """Returns whether masks of this shape have an entry for each combination of values of a `MultiDiscrete`.

        If not, they are masks of a `Discrete`, or have a row for each element. See `sample_legal`.

        Raises:
          InvalidArgumentError: masks of this space cannot have this shape.
        """
        rows = (*self.shape, int(self.nvec.max()))
        joint = tuple(self.nvec.tolist()) if self.nvec.ndim == 1 else rows
        if shape in (rows, joint):
            return shape != rows
        raise InvalidArgumentError(
            f"the mask of {self!r} must have shape {joint if joint == rows else f'{joint} or {rows}'}, got {shape}."
        )

    def mask_entries(self) -> np.ndarray:
        """Returns which entries of a row-wise action mask belong to a value: bool, with the shape of the mask.

        All rows have the length of the largest number of values. The mask of a `Discrete` is a single row.
        """
        return np.arange(self.nvec.max()) < self.nvec[..., None]

    def flat_space(self) -> Box:
        return Box(0.0, 1.0, (int(self.nvec.sum()),))

    def flatten(self, value: PyTree) -> jax.Array:
        elements = zip(self.nvec.flat, value.reshape(-1), strict=True)
        return jnp.concatenate([jax.nn.one_hot(x, int(n), dtype=jnp.float32) for n, x in elements])


class Discrete(_Choices):
    """The integers {0, ..., n - 1}, as int32 scalars.

    Raises:
      ValueError: n is not a positive integer, or is above 2**31 - 1.
    """

    def __init__(self, n: int):
        self.n = checks.positive_integer("n of Discrete", n, at_most=np.iinfo(np.int32).max)
        super().__init__(self.n)

    def _sample(self, key: jax.Array) -> jax.Array:
        return _sample_integers(key, (), 0, self.n - 1)

    def value_problem(self, value: PyTree) -> str | None:
        if isinstance(value, (int, np.integer)):  # fast path: numpy is slower, and so is a union in isinstance
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
    """Integer arrays whose element i is in {0, ..., nvec[i] - 1}, as int32 with the shape of nvec.

    Args:
      nvec: number of values of each element.

    Raises:
      ValueError: an element of nvec is not a positive integer, or is above 2**31 - 1.
    """

    def __init__(self, nvec: Any):
        nvec = np.asarray(nvec)
        is_integer = np.issubdtype(nvec.dtype, np.integer) and nvec.size > 0
        if not is_integer or nvec.min() <= 0 or nvec.max() > np.iinfo(np.int32).max:
            raise ValueError(f"MultiDiscrete needs integers from 1 to 2**31 - 1, got {nvec!r}")
        super().__init__(nvec)

    def _sample(self, key: jax.Array) -> jax.Array:
        equal = (self.nvec == self.nvec.flat[0]).all()
        high = int(self.nvec.flat[0]) - 1 if equal else self.nvec - 1
        return _sample_integers(key, self.shape, 0, high)

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


class _Composite(Space):
    """Base class of `Tuple` and `Dict`."""

    _parts: Mapping[Any, Space]  # by index or name

    def __init__(self, parts: Mapping[Any, Space]):
        for space in parts.values():
            if not isinstance(space, Space):
                raise TypeError(f"expected a Space, got {space!r}")
        self._parts = parts
        self.shape = self._build(space.shape for space in parts.values())
        self.dtype = self._build(space.dtype for space in parts.values())

    def _build(self, values: Iterable[PyTree]) -> PyTree:
        """Builds a value from the values of its parts, in their order."""
        raise NotImplementedError

    def _values(self, value: PyTree) -> Mapping[Any, PyTree]:
        """Returns the values of the parts, by index or name."""
        raise NotImplementedError

    def _sample(self, key: jax.Array) -> PyTree:
        keys = random.split(key, len(self._parts))
        return self._build(space.sample(keys[i]) for i, space in enumerate(self._parts.values()))

    def parts(self, value: PyTree) -> list[tuple[Space, PyTree]]:
        """Pairs each part's space with its value. The value must have the right structure.

        The parts of a `Dict` are sorted by name.
        """
        values = self._values(value)
        return [(space, values[place]) for place, space in self._parts.items()]

    def map(self, fun: Callable[[Space, PyTree], PyTree], value: PyTree) -> PyTree:
        """Applies `fun(space, part)` to each part. The value must have the right structure."""
        return self._build(fun(space, part) for space, part in self.parts(value))

    def value_problem(self, value: PyTree) -> str | None:
        problems = (space.value_problem(part) for space, part in self.parts(value))
        return next(filter(None, problems), None)

    def cast(self, value: PyTree) -> PyTree:
        return self.map(lambda space, part: space.cast(part), value)

    def batch(self, num: int) -> PyTree:
        return type(self)(self._build(space.batch(num) for space in self._parts.values()))

    def unbatch(self) -> PyTree:
        return type(self)(self._build(space.unbatch() for space in self._parts.values()))

    def flat_space(self) -> Box:
        boxes = [space.flat_space() for space in self._parts.values()]
        return Box(_join([box.low for box in boxes]), _join([box.high for box in boxes]))

    def flatten(self, value: PyTree) -> jax.Array:
        return jnp.concatenate([space.flatten(part).astype(jnp.float32) for space, part in self.parts(value)])

    def _mismatch_of_parts(self, value: PyTree) -> str | None:
        values = self._values(value)
        problems = ((place, space.mismatch(values[place])) for place, space in self._parts.items())
        return next((f"in part {place!r}: {problem}" for place, problem in problems if problem), None)

    def _within(self, value: PyTree) -> jax.Array:
        result = jnp.array(True)
        for space, part in self.parts(value):
            result = result & space.contains(part)
        return result

    def _static(self) -> tuple[PyTree, ...]:
        return tuple(self._parts.items())


class Tuple(_Composite):
    """Tuples with an element of each given space.

    Raises:
      TypeError: a part is not a space.
    """

    def __init__(self, spaces: Iterable[Space]):
        self.spaces = tuple(spaces)
        super().__init__(dict(enumerate(self.spaces)))

    def _build(self, values: Iterable[PyTree]) -> tuple[PyTree, ...]:
        return tuple(values)

    def _values(self, value: PyTree) -> Mapping[int, PyTree]:
        return value

    def mismatch(self, value: PyTree) -> str | None:
        if not isinstance(value, tuple) or len(value) != len(self.spaces):
            return f"expected a tuple of {len(self.spaces)}, got {_describe(value)}"
        return self._mismatch_of_parts(value)

    def __repr__(self) -> str:
        return f"Tuple({', '.join(map(repr, self.spaces))})"


class Dict(_Composite):
    """Dicts with an element of each given space. Dataclasses with these fields, such as states, also count as dicts.

    Raises:
      TypeError: a part is not a space.
    """

    def __init__(self, spaces: Mapping[str, Space]):
        self.spaces = dict(sorted(spaces.items()))
        super().__init__(self.spaces)

    def _build(self, values: Iterable[PyTree]) -> dict[str, PyTree]:
        return dict(zip(self.spaces, values, strict=True))

    def _values(self, value: PyTree) -> Mapping[str, PyTree]:
        return _as_mapping(value) or {}

    def mismatch(self, value: PyTree) -> str | None:
        parts = _as_mapping(value)
        if parts is None or set(parts) != set(self.spaces):
            return f"expected a dict of {', '.join(map(repr, self.spaces))}, got {_describe(value)}"
        return self._mismatch_of_parts(parts)

    def __repr__(self) -> str:
        return f"Dict({', '.join(f'{name}={space!r}' for name, space in self.spaces.items())})"


class Tree(Space):
    """All pytrees with a given structure, shapes and dtypes. Custom pytree classes are supported.

    Args:
      struct: a pytree of arrays or `jax.ShapeDtypeStruct`s. Its classes and their static fields are part of the space.

    Raises:
      TypeError: a leaf is a typed random key.
    """

    def __init__(self, struct: Any):
        self.struct = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), struct)
        self.shape = jax.tree.map(lambda leaf: leaf.shape, self.struct)
        self.dtype = jax.tree.map(lambda leaf: leaf.dtype, self.struct)
        self._leaves = [unbounded_space(leaf) for leaf in jax.tree.leaves(self.struct)]

    def _sample(self, key: jax.Array) -> PyTree:
        keys = random.split(key, max(1, len(self._leaves)))
        samples = [space.sample(keys[i]) for i, space in enumerate(self._leaves)]
        return jax.tree.unflatten(jax.tree.structure(self.struct), samples)

    def mismatch(self, value: PyTree) -> str | None:
        if jax.tree.structure(value) != jax.tree.structure(self.struct):
            return f"expected {trees.structure_difference(self.struct, value)}"
        problems = (space.mismatch(leaf) for space, leaf in zip(self._leaves, jax.tree.leaves(value), strict=True))
        return next(filter(None, problems), None)

    def _within(self, value: PyTree) -> jax.Array:
        return jnp.array(True)  # NaN is allowed, because other libraries' states can contain it

    def batch(self, num: int) -> Tree:
        num = checks.positive_integer("num", num)
        return Tree(jax.tree.map(lambda x: jax.ShapeDtypeStruct((num, *x.shape), x.dtype), self.struct))

    def unbatch(self) -> Tree:
        return Tree(jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), self.struct))

    def _static(self) -> tuple[PyTree, ...]:
        leaves, structure = jax.tree.flatten(self.struct)
        return structure, tuple((leaf.shape, np.dtype(leaf.dtype)) for leaf in leaves)

    def __repr__(self) -> str:
        return f"Tree({_describe(self.struct)}, {len(self._leaves)} arrays)"


def unbounded_space(struct: Any) -> Space:
    """Returns the space of all values with a given structure, shapes and dtypes.

    Args:
      struct: a tree of arrays or `jax.ShapeDtypeStruct`s in dataclasses, dicts and tuples.

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


# Helpers.


def _without_wrapping(value: jax.Array, dtype: Any) -> jax.Array:
    """Casts an integer array without wrapping around: values beyond the dtype are clipped and stay out of the space."""
    if trees.kind(dtype) == trees.kind(value.dtype) == "integer":
        to, of = jnp.iinfo(dtype), jnp.iinfo(value.dtype)
        value = jnp.clip(value, max(to.min, of.min), min(to.max, of.max))
    return jnp.asarray(value, dtype)


def _sample_integers(key: jax.Array, shape: tuple[int, ...], low: Any, high: Any) -> jax.Array:
    """Returns int32, uniform on [low, high], both included. For uint32 bounds, cast the result to uint32."""
    if not isinstance(low, jax.Array) and not isinstance(high, jax.Array):
        count = np.asarray(high, np.int64) - np.asarray(low, np.int64) + 1
        if count.max(initial=0) <= 2**16:
            numbers = random.integers(random.bits(key, shape), count.astype(np.uint32))
            return numbers + np.asarray(low).astype(np.int32)
    low, high = jnp.asarray(low).astype(jnp.int32), jnp.asarray(high).astype(jnp.int32)
    count = (high - low).astype(jnp.uint32) + jnp.uint32(1)  # modulo 2**32, so 0 means all 2**32 values
    key_all, key_some = random.split(key)
    everything = random.bits(key_all, shape)
    some = jax.random.randint(key_some, shape, jnp.uint32(0), count, jnp.uint32)
    return low + jnp.where(count == 0, everything, some).astype(jnp.int32)


def _array_mismatch(value: PyTree, shape: tuple[int, ...], kind: str) -> str | None:
    """Describes why a value is not an array of this shape and kind ("bool", "integer" or "float"). None if it is."""
    if not isinstance(value, jax.Array | np.ndarray | np.generic | bool | int | float):
        return f"expected an array, got {_describe(value)}"
    dtype = value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype  # pyright: ignore[reportAttributeAccessIssue]
    if np.shape(value) != shape:
        return f"expected shape {shape}, got {np.shape(value)}"
    if trees.kind(dtype) in trees.CONVERTIBLE[kind]:
        return None
    expected = {"bool": "bool", "integer": "an integer"}.get(kind, "a real number")
    return f"expected {expected}, got {dtype}"


def _describe(value: PyTree) -> str:
    return repr(value) if isinstance(value, bool | int | float | str) else type(value).__name__


def _between(unit: jax.Array, low: Any, high: Any) -> jax.Array:
    """Maps [0, 1) onto [low, high] without overflow for any finite bounds."""
    low, high = jnp.asarray(low, jnp.float32), jnp.asarray(high, jnp.float32)
    return jnp.clip(low * (1 - unit) + high * unit, low, high)


def _shape(bound: Any) -> tuple[int, ...]:
    if isinstance(bound, list | tuple):
        return (len(bound), *(_shape(bound[0]) if bound else ()))
    return np.shape(bound)


def _distinct(bound: np.ndarray) -> np.ndarray:
    """Undoes broadcasting: axes along which the bound repeats get length 1. Axes of length 0 stay."""
    return bound[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in bound.strides)]


def _is_constant(bound: np.ndarray) -> bool:
    return bound.size > 0 and bool((_distinct(bound) == bound.flat[0]).all())


def _bytes(bound: Any) -> bytes:
    """Returns the bytes of a bound. If all elements are equal, only one, because the bound may not fit into memory."""
    bound = np.asarray(bound)
    return bound.flat[0].tobytes() if _is_constant(bound) else bound.tobytes()


def _short(bound: Any) -> str:
    if not isinstance(bound, np.ndarray) or (bound.size > 8 and not _is_constant(bound)):
        return "..."
    is_constant = _is_constant(bound)
    numbers = [f"{x:g}" if bound.dtype.kind == "f" else str(x) for x in (bound.flat[:1] if is_constant else bound.flat)]
    return numbers[0] if is_constant else f"[{', '.join(numbers)}]"


def _choose(key: jax.Array, mask: jax.Array, exists: np.ndarray) -> jax.Array:
    """Returns the index, along the last axis, of a random True entry. If there is none, of any entry that exists."""
    legal = mask & exists
    legal = jnp.where(legal.any(-1, keepdims=True), legal, exists)
    rank = _sample_integers(key, legal.shape[:-1], 0, legal.sum(-1, dtype=jnp.int32) - 1)
    return jnp.argmax(jnp.cumsum(legal, -1, dtype=jnp.int32) > rank[..., None], -1).astype(jnp.int32)


def _as_mapping(value: PyTree) -> Mapping[str, PyTree] | None:
    if isinstance(value, Mapping):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def _join(bounds: list[Any]) -> PyTree:
    is_traced = any(isinstance(bound, jax.Array) for bound in bounds)
    return (jnp if is_traced else np).concatenate([bound.astype(np.float32) for bound in bounds])


NATURAL_NUMBERS = Box(0, np.iinfo(np.int32).max, (), jnp.int32)
"""Non-negative int32 scalars, such as a state's `time`."""
