"""`Box`: arrays between two bounds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from envcore import checks, random, trees
from envcore.spaces.base import ArraySpace, Space, array_mismatch, sample_integers
from envcore.typing import PyTree


class Box(ArraySpace):
    """Arrays between two bounds, both included.

    Args:
      low: lower bound: a number, an array that broadcasts to `shape`, or a list of numbers. It may be -inf, and may be
        traced. A JAX array that is not traced is copied to the host, so that its values are checked like numbers.
      high: upper bound likewise; may be inf.
      shape: the shape of a value; by default the broadcast shape of the bounds.
      dtype: the dtype of a value: bool, or an integer or float dtype of at most 32 bits.

    Its `low` and `high` have the shape of a value: they are numpy arrays, or JAX arrays where they are traced.

    Floats with two bounds are sampled uniformly, floats with one bound from an exponential distribution that starts at
    it, floats without bounds from a normal distribution; integers uniformly, both bounds included.

    Raises:
      ValueError: the bounds do not broadcast to `shape`, low > high, or `dtype` cannot represent a bound.
      TypeError: `dtype` is not one of those.
    """

    def __init__(
        self,
        low: Any,
        high: Any,
        shape: Iterable[int] | None = None,
        dtype: Any = jnp.float32,
    ):
        self.dtype = np.dtype(dtype)
        if not any(jnp.issubdtype(self.dtype, family) for family in (jnp.bool_, jnp.integer, jnp.floating)):
            raise TypeError(f"a Box holds bool, integers or floats, got {self.dtype}")
        if self.dtype.itemsize > 4:
            raise TypeError(f"a Box holds numbers of at most 32 bits, got {self.dtype}")
        self.shape = tuple(shape) if shape is not None else np.broadcast_shapes(_shape(low), _shape(high))
        self.low, self.high = self._bound(low), self._bound(high)
        if isinstance(self.low, np.ndarray) and isinstance(self.high, np.ndarray):
            low, high = _distinct(self.low), _distinct(self.high)
            if not ((low <= high) & (low < np.inf) & (high > -np.inf)).all():
                bounds = f"low={_short(self.low)}, high={_short(self.high)}"
                raise ValueError(f"Box needs low <= high, and a finite number from low to high, got {bounds}")

    def _bound(self, bound: Any) -> PyTree:
        if isinstance(bound, list | tuple) and any(isinstance(x, Tracer) for x in bound):
            bound = jnp.stack([jnp.asarray(x, self.dtype) for x in bound])
        if isinstance(bound, Tracer):
            return jnp.broadcast_to(bound.astype(self.dtype), self.shape)
        values = np.asarray(bound)
        cast = self.cast(values)
        is_float = jnp.issubdtype(self.dtype, jnp.floating)
        if (np.isinf(cast) & ~np.isinf(values) if is_float else cast != values).any():
            raise ValueError(f"a Box of {self.dtype} cannot hold the bound {_short(values)}")
        return np.broadcast_to(cast, self.shape)

    def _sample(self, key: jax.Array) -> jax.Array:
        if self.dtype == np.bool_:
            low, high = self.low.astype(np.int32), self.high.astype(np.int32)
            return sample_integers(key, self.shape, low, high).astype(bool)
        if self.dtype.kind in "iu":
            return sample_integers(key, self.shape, self.low, self.high).astype(self.dtype)
        concrete = isinstance(self.low, np.ndarray) and isinstance(self.high, np.ndarray)
        if concrete and np.isfinite(_distinct(self.low)).all() and np.isfinite(_distinct(self.high)).all():
            unit = random.unit(random.bits(key, self.shape))
            return _between(unit, self.low, self.high).astype(self.dtype)
        return self._sample_unbounded(key)

    def _sample_unbounded(self, key: jax.Array) -> jax.Array:
        low, high = jnp.asarray(self.low, jnp.float32), jnp.asarray(self.high, jnp.float32)
        unit = random.unit(random.bits(key, self.shape))
        tail = -jnp.log1p(-unit)  # exponential with mean 1
        has_low, has_high = jnp.isfinite(low), jnp.isfinite(high)
        finite_low, finite_high = jnp.where(has_low, low, 0), jnp.where(has_high, high, 0)
        bounded = _between(unit, finite_low, jnp.where(has_high, high, finite_low))
        one_sided = jnp.where(has_low, finite_low + tail, finite_high - tail)
        # The inverse CDF of the normal distribution, at the midpoints of the steps of `unit`: never at 0 or 1.
        free = np.float32(np.sqrt(2)) * lax.erf_inv(2 * unit - np.float32(1 - 2**-23))
        value = jnp.where(has_low & has_high, bounded, jnp.where(has_low | has_high, one_sided, free))
        return jnp.clip(value, low, high).astype(self.dtype)

    def mismatch(self, value: PyTree) -> str | None:
        return array_mismatch(value, self.shape, trees.kind(self.dtype))

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
        if self.dtype == np.bool_:
            value = value.astype(np.int32)
            return jnp.asarray(((value >= self.low.astype(np.int32)) & (value <= self.high.astype(np.int32))).all())
        with np.errstate(over="ignore"):
            cast = value.astype(self.dtype)
        within = (cast >= self.low) & (cast <= self.high)
        if self.dtype.kind in "iu":  # a wider integer may wrap around into the bounds
            within &= (cast.astype(value.dtype) == value) & ((cast < 0) == (value < 0))
        else:  # a wider float may become infinite
            within &= (abs(cast) < np.inf) | (abs(value) == np.inf)
        return jnp.asarray(within.all())

    def batch(self, num: int) -> Box:
        num = checks.positive_integer("num", num)
        return Box(self.low, self.high, (num, *self.shape), self.dtype)

    def unbatch(self) -> Space:
        return Box(self.low[0], self.high[0], self.shape[1:], self.dtype) if self.shape else super().unbatch()

    def flat_space(self) -> Box:
        return Box(self.low.reshape(-1), self.high.reshape(-1), None, self.dtype)

    def flatten(self, value: PyTree) -> jax.Array:
        return jnp.asarray(value).reshape(-1)

    def _static(self) -> tuple[PyTree, ...]:
        return (self.shape, self.dtype.name, _bytes(self.low), _bytes(self.high))

    def __repr__(self) -> str:
        return f"Box({_short(self.low)}, {_short(self.high)}, {self.shape}, {self.dtype.name})"


def symmetric_box(high: Iterable[Any]) -> Box:
    """The float32 vectors with -high <= x <= high."""
    # In numpy if possible: under `jit`, even the negative of a concrete array would be traced.
    high = [x if isinstance(x, Tracer) else np.asarray(x) for x in high]
    return Box([-x for x in high], high)


def _between(unit: jax.Array, low: Any, high: Any) -> jax.Array:
    """Maps [0, 1) onto [low, high] without overflow for any finite bounds."""
    low, high = jnp.asarray(low, jnp.float32), jnp.asarray(high, jnp.float32)
    return jnp.clip(low * (1 - unit) + high * unit, low, high)


def _shape(bound: Any) -> tuple[int, ...]:
    if isinstance(bound, list | tuple):
        return (len(bound), *(_shape(bound[0]) if bound else ()))
    return np.shape(bound)


def _distinct(bound: np.ndarray) -> np.ndarray:
    """The bound before it was broadcast: axes along which it repeats itself have length 1 (0 stays 0)."""
    return bound[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in bound.strides)]


def _is_constant(bound: np.ndarray) -> bool:
    return bound.size > 0 and bool((_distinct(bound) == bound.flat[0]).all())


def _bytes(bound: Any) -> bytes:
    """The bytes of a bound; of one element where all are equal, which may be more than memory holds."""
    bound = np.asarray(bound)
    return bound.flat[0].tobytes() if _is_constant(bound) else bound.tobytes()


def _short(bound: Any) -> str:
    if not isinstance(bound, np.ndarray) or (bound.size > 8 and not _is_constant(bound)):
        return "..."
    is_constant = _is_constant(bound)
    numbers = [f"{x:g}" if bound.dtype.kind == "f" else str(x) for x in (bound.flat[:1] if is_constant else bound.flat)]
    return numbers[0] if is_constant else f"[{', '.join(numbers)}]"


NATURAL_NUMBERS = Box(0, np.iinfo(np.int32).max, (), jnp.int32)
"""int32 scalars from 0 on, such as a state's `time`."""
