"""Spaces: what actions, observations and states may be.

A space describes a value (`shape`, `dtype`, bounds), draws one (`sample`) and tests one (`contains`); both work
inside `jit` and `vmap`, and `contains(sample(key))` is always true. Two equal spaces compare equal. Bounds may be
traced (they may depend on an environment's params).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envcore import random


class Space:
    """What all spaces have in common."""

    @property
    def shape(self) -> Any:
        """Shape of one value; for `Tuple` and `Dict` the shapes of their parts."""
        raise NotImplementedError

    @property
    def dtype(self) -> Any:
        """dtype of one value; for `Tuple` and `Dict` the dtypes of their parts."""
        raise NotImplementedError

    def sample(self, key: jax.Array) -> Any:
        """Draws one value."""
        raise NotImplementedError

    def mismatch(self, value: Any) -> str | None:
        """Says what is wrong with a value's structure, shape or kind of dtype; None where nothing is.

        It reads types only, so it also works on tracers.
        """
        raise NotImplementedError

    def contains(self, value: Any) -> jax.Array:
        """Whether `value` is in the space: bool, shape ()."""
        if self.mismatch(value) is not None:
            return jnp.array(False)
        return self._within(value)

    def _within(self, value: Any) -> jax.Array:
        raise NotImplementedError

    def _static(self) -> tuple[Any, ...]:
        """What `==` and `hash` compare."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._static() == other._static()  # pyright: ignore[reportAttributeAccessIssue]

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._static()))


class Discrete(Space):
    """The integers {0, ..., n - 1}; values are int32 scalars.

    Raises:
      ValueError: n is no positive integer.
    """

    def __init__(self, n: int):
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 0 < n <= np.iinfo(np.int32).max:
            raise ValueError(f"Discrete needs a positive integer, got {n!r}")
        self.n = int(n)

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.int32)

    def sample(self, key: jax.Array) -> jax.Array:
        return _integers(key, (), 0, self.n - 1)

    def mismatch(self, value: Any) -> str | None:
        return _array_mismatch(value, (), integer=True)

    def _within(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        return (value >= 0) & (value < self.n)

    def _static(self) -> tuple[Any, ...]:
        return (self.n,)

    def __repr__(self) -> str:
        return f"Discrete({self.n})"


class MultiDiscrete(Space):
    """An array of integers, element i in {0, ..., nvec[i] - 1}; values are int32 of nvec's shape.

    Raises:
      ValueError: an element of nvec is no positive integer.
    """

    def __init__(self, nvec: Any):
        nvec = np.asarray(nvec)
        if not np.issubdtype(nvec.dtype, np.integer) or nvec.size == 0 or nvec.min() <= 0:
            raise ValueError(f"MultiDiscrete needs positive integers, got {nvec!r}")
        self.nvec = nvec.astype(np.int32)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.nvec.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.int32)

    def sample(self, key: jax.Array) -> jax.Array:
        equal = (self.nvec == self.nvec.flat[0]).all()
        return _integers(key, self.shape, 0, int(self.nvec.flat[0]) - 1 if equal else self.nvec - 1)

    def mismatch(self, value: Any) -> str | None:
        return _array_mismatch(value, self.shape, integer=True)

    def _within(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        return ((value >= 0) & (value < self.nvec.astype(value.dtype))).all()

    def _static(self) -> tuple[Any, ...]:
        return (self.nvec.shape, self.nvec.tobytes())

    def __repr__(self) -> str:
        return f"MultiDiscrete({self.nvec.tolist()})"


class Box(Space):
    """Arrays between two bounds, both included.

    Args:
      low: lower bound, a number, an array that broadcasts to `shape`, or a list of numbers; may be -inf, may be
        traced.
      high: upper bound likewise; may be inf.
      shape: shape of a value; by default the broadcast shape of the bounds.
      dtype: of a value: a float, integer or bool dtype.

    Bounded float elements are sampled uniformly, half-bounded ones from an exponential distribution beyond
    their bound, unbounded ones from a normal distribution; integers uniformly, both bounds included.

    Raises:
      ValueError: the bounds do not broadcast to `shape`, or low > high, or an integer bound is not finite.
    """

    def __init__(self, low: Any, high: Any, shape: Iterable[int] | None = None, dtype: Any = jnp.float32):
        self._dtype = np.dtype(dtype)
        self._shape = tuple(shape) if shape is not None else np.broadcast_shapes(_shape(low), _shape(high))
        self.low, self.high = self._bound(low), self._bound(high)
        if isinstance(self.low, np.ndarray) and isinstance(self.high, np.ndarray) and not (self.low <= self.high).all():
            raise ValueError(f"Box needs low <= high, got low={low!r}, high={high!r}")

    def _bound(self, bound: Any) -> Any:
        try:
            if isinstance(bound, list | tuple) and any(isinstance(x, jax.Array) for x in bound):
                bound = jnp.stack([jnp.asarray(x, self._dtype) for x in bound])
            if isinstance(bound, jax.Array):
                return jnp.broadcast_to(bound.astype(self._dtype), self._shape)
            bound = np.asarray(bound)
            if self._dtype.kind != "f" and not np.isfinite(bound).all():
                raise ValueError(f"a Box of {self._dtype} needs finite bounds, got {bound!r}")
            return np.broadcast_to(bound.astype(self._dtype), self._shape)
        except ValueError as error:
            raise ValueError(f"Box cannot use the bound {bound!r} for shape {self._shape}: {error}") from error

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._dtype

    def sample(self, key: jax.Array) -> jax.Array:
        if self._dtype == np.bool_:
            return _integers(key, self._shape, self.low.astype(np.int32), self.high.astype(np.int32)).astype(bool)
        if self._dtype.kind in "iu":
            return _integers(key, self._shape, self.low, self.high).astype(self._dtype)
        concrete = isinstance(self.low, np.ndarray) and isinstance(self.high, np.ndarray)
        if concrete and np.isfinite(self.low).all() and np.isfinite(self.high).all():
            return _between(random.unit(random.bits(key, self._shape)), self.low, self.high).astype(self._dtype)
        return self._sample_unbounded(key)

    def _sample_unbounded(self, key: jax.Array) -> jax.Array:
        low, high = jnp.asarray(self.low, jnp.float32), jnp.asarray(self.high, jnp.float32)
        key_uniform, key_normal = random.split(key)
        unit = random.unit(random.bits(key_uniform, self._shape))
        tail = -jnp.log1p(-unit)  # exponential with mean 1
        has_low, has_high = jnp.isfinite(low), jnp.isfinite(high)
        finite_low, finite_high = jnp.where(has_low, low, 0), jnp.where(has_high, high, 0)
        bounded = _between(unit, finite_low, jnp.where(has_high, high, finite_low))
        one_sided = jnp.where(has_low, finite_low + tail, finite_high - tail)
        free = jax.random.normal(key_normal, self._shape, jnp.float32)
        value = jnp.where(has_low & has_high, bounded, jnp.where(has_low | has_high, one_sided, free))
        return jnp.clip(value, low, high).astype(self._dtype)

    def mismatch(self, value: Any) -> str | None:
        if self._dtype == np.bool_:
            return _array_mismatch(value, self._shape, boolean=True)
        return _array_mismatch(value, self._shape, integer=self._dtype.kind in "iu")

    def _within(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        if self._dtype == np.bool_:
            value = value.astype(np.int32)
            return ((value >= self.low.astype(np.int32)) & (value <= self.high.astype(np.int32))).all()
        value = value.astype(self._dtype)
        return ((value >= self.low) & (value <= self.high)).all()

    def _static(self) -> tuple[Any, ...]:
        low, high = np.asarray(self.low), np.asarray(self.high)
        return (self._shape, self._dtype.name, low.tobytes(), high.tobytes())

    def __repr__(self) -> str:
        return f"Box({_short(self.low)}, {_short(self.high)}, {self._shape}, {self._dtype.name})"


COUNT = Box(0, np.iinfo(np.int32).max, (), jnp.int32)
"""Counters, such as a state's `time`."""


def symmetric_box(high: Iterable[Any]) -> Box:
    """The float32 vectors with -high <= x <= high."""
    high = list(high)
    return Box([-x for x in high], high)


class Tuple(Space):
    """A tuple of spaces; values are tuples.

    Raises:
      TypeError: a part is no space.
    """

    def __init__(self, spaces: Iterable[Space]):
        self.spaces = tuple(spaces)
        _check_spaces(self.spaces)

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(space.shape for space in self.spaces)

    @property
    def dtype(self) -> tuple[Any, ...]:
        return tuple(space.dtype for space in self.spaces)

    def sample(self, key: jax.Array) -> tuple[Any, ...]:
        keys = random.split(key, len(self.spaces))
        return tuple(space.sample(keys[i]) for i, space in enumerate(self.spaces))

    def mismatch(self, value: Any) -> str | None:
        if not isinstance(value, tuple | list) or len(value) != len(self.spaces):
            return f"expected a tuple of {len(self.spaces)}, got {_describe(value)}"
        return _first_mismatch(dict(enumerate(self.spaces)), dict(enumerate(value)))

    def _within(self, value: Any) -> jax.Array:
        return _all(space.contains(part) for space, part in zip(self.spaces, value, strict=True))

    def _static(self) -> tuple[Any, ...]:
        return self.spaces

    def __repr__(self) -> str:
        return f"Tuple({', '.join(map(repr, self.spaces))})"


class Dict(Space):
    """Spaces by name; values are dicts. A dataclass with these fields (a state) is tested like a dict.

    Raises:
      TypeError: a part is no space.
    """

    def __init__(self, spaces: Mapping[str, Space]):
        self.spaces = dict(sorted(spaces.items()))
        _check_spaces(self.spaces.values())

    @property
    def shape(self) -> dict[str, Any]:
        return {name: space.shape for name, space in self.spaces.items()}

    @property
    def dtype(self) -> dict[str, Any]:
        return {name: space.dtype for name, space in self.spaces.items()}

    def sample(self, key: jax.Array) -> dict[str, Any]:
        keys = random.split(key, len(self.spaces))
        return {name: space.sample(keys[i]) for i, (name, space) in enumerate(self.spaces.items())}

    def mismatch(self, value: Any) -> str | None:
        parts = _as_mapping(value)
        if parts is None or set(parts) != set(self.spaces):
            return f"expected a dict of {', '.join(map(repr, self.spaces))}, got {_describe(value)}"
        return _first_mismatch(self.spaces, parts)

    def _within(self, value: Any) -> jax.Array:
        parts = _as_mapping(value) or {}
        return _all(space.contains(parts[name]) for name, space in self.spaces.items())

    def _static(self) -> tuple[Any, ...]:
        return tuple(self.spaces.items())

    def __repr__(self) -> str:
        return f"Dict({', '.join(f'{name}={space!r}' for name, space in self.spaces.items())})"


def batch_space(space: Space, num: int) -> Space:
    """The space of `num` values at once, stacked along a new first axis; it samples the whole batch in one draw.

    Raises:
      ValueError: num is no positive integer.
      TypeError: the space is none of this module's.
    """
    if isinstance(num, bool) or not isinstance(num, int | np.integer) or num <= 0:
        raise ValueError(f"a batch needs a positive size, got {num!r}")
    match space:
        case Discrete():
            return MultiDiscrete(np.full(num, space.n))
        case MultiDiscrete():
            return MultiDiscrete(np.broadcast_to(space.nvec, (num, *space.shape)))
        case Box():
            stack = jnp.broadcast_to if isinstance(space.low, jax.Array) else np.broadcast_to
            shape = (num, *space.shape)
            return Box(stack(space.low, shape), stack(space.high, shape), shape, space.dtype)
        case Tuple():
            return Tuple(batch_space(part, num) for part in space.spaces)
        case Dict():
            return Dict({name: batch_space(part, num) for name, part in space.spaces.items()})
        case _:
            raise TypeError(f"batch_space knows envcore's own spaces, got {space!r}")


def _integers(key: jax.Array, shape: tuple[int, ...], low: Any, high: Any) -> jax.Array:
    """int32 (or the bounds' own dtype), uniform on [low, high], both included."""
    concrete = not isinstance(low, jax.Array) and not isinstance(high, jax.Array)
    if concrete:
        count = np.asarray(high, np.int64) - np.asarray(low, np.int64) + 1
        if count.max(initial=0) <= 2**16:
            words = random.bits(key, shape)
            return random.below(words, count.astype(np.uint32)) + np.asarray(low).astype(np.int32)
    low, high = jnp.asarray(low), jnp.asarray(high)
    # The upper bound is exclusive in jax.random, and high + 1 may overflow: draw one less, then maybe one more.
    span = jnp.iinfo(low.dtype).max
    key_draw, key_top = jax.random.split(key)
    draw = jax.random.randint(key_draw, shape, low, jnp.where(high < span, high + 1, high), low.dtype)
    top = jax.random.bernoulli(key_top, 2.0 ** -jnp.iinfo(low.dtype).bits, shape)
    return jnp.where((high == span) & top, high, draw)


def _between(unit: jax.Array, low: Any, high: Any) -> jax.Array:
    """Maps [0, 1) onto [low, high] without overflow for any finite bounds."""
    low, high = jnp.asarray(low, jnp.float32), jnp.asarray(high, jnp.float32)
    return jnp.clip(low * (1 - unit) + high * unit, low, high)


def _array_mismatch(value: Any, shape: tuple[int, ...], integer: bool = False, boolean: bool = False) -> str | None:
    if not isinstance(value, jax.Array | np.ndarray | np.generic | bool | int | float):
        try:
            value = np.asarray(value)
        except (TypeError, ValueError):
            return f"expected an array, got {_describe(value)}"
    dtype = value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype  # pyright: ignore[reportAttributeAccessIssue]
    if np.shape(value) != shape:
        return f"expected shape {shape}, got {np.shape(value)}"
    kind = "bool" if boolean else "an integer" if integer else "a real number"
    allowed = (jnp.bool_,) if boolean else (jnp.integer,) if integer else (jnp.integer, jnp.floating)
    if not any(jnp.issubdtype(dtype, family) for family in allowed):
        return f"expected {kind}, got {dtype}"
    return None


def _first_mismatch(spaces: Mapping[Any, Space], parts: Mapping[Any, Any]) -> str | None:
    for name, space in spaces.items():
        problem = space.mismatch(parts[name])
        if problem is not None:
            return f"in part {name!r}: {problem}"
    return None


def _as_mapping(value: Any) -> Mapping[str, Any] | None:
    if isinstance(value, Mapping):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def _check_spaces(spaces: Iterable[Space]) -> None:
    for space in spaces:
        if not isinstance(space, Space):
            raise TypeError(f"expected a Space, got {space!r}")


def _all(conditions: Iterable[jax.Array]) -> jax.Array:
    result = jnp.array(True)
    for condition in conditions:
        result = result & condition
    return result


def _describe(value: Any) -> str:
    return repr(value) if isinstance(value, bool | int | float | str) else type(value).__name__


def _shape(bound: Any) -> tuple[int, ...]:
    return (len(bound),) if isinstance(bound, list | tuple) else np.shape(bound)


def _short(bound: Any) -> str:
    if isinstance(bound, np.ndarray) and bound.size and (bound == bound.flat[0]).all():
        return f"{bound.flat[0]:g}" if bound.dtype.kind == "f" else str(bound.flat[0])
    return str(bound.tolist()) if isinstance(bound, np.ndarray) and bound.size <= 8 else "..."
