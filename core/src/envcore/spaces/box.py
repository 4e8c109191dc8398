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
        self._dtype = np.dtype(dtype)
        if not any(jnp.issubdtype(self._dtype, family) for family in (jnp.bool_, jnp.integer, jnp.floating)):
            raise TypeError(f"a Box holds bool, integers or floats, got {self._dtype}")
        if self._dtype.itemsize > 4:
            raise TypeError(f"a Box holds numbers of at most 32 bits, got {self._dtype}")
        self._shape = tuple(shape) if shape is not None else np.broadcast_shapes(_shape(low), _shape(high))
        self._low, self._high = self._bound(low), self._bound(high)
        if isinstance(self._low, np.ndarray) and isinstance(self._high, np.ndarray):
            bounds = _distinct(self._low), _distinct(self._high)
            has_order, has_finite = bounds[0] <= bounds[1], (bounds[0] < np.inf) & (bounds[1] > -np.inf)
            for is_right, rule in ((has_order, "low <= high"), (has_finite, "a finite number between low and high")):
                if not is_right.all():
                    low, high = (np.broadcast_to(bound, is_right.shape)[~is_right].flat[0] for bound in bounds)
                    raise ValueError(f"Box needs {rule}, got low={low}, high={high}")

    def _bound(self, bound: Any) -> PyTree:
        try:
            if isinstance(bound, list | tuple) and any(isinstance(x, Tracer) for x in bound):
                bound = jnp.stack([jnp.asarray(x, self._dtype) for x in bound])
            if isinstance(bound, Tracer):
                return jnp.broadcast_to(bound.astype(self._dtype), self._shape)
            values = np.asarray(bound)
            cast = self.cast(values)
            is_float = jnp.issubdtype(self._dtype, jnp.floating)
            lost = np.isinf(cast) & ~np.isinf(values) if is_float else cast != values
            if lost.any():
                raise ValueError(f"{self._dtype} cannot represent it")
            return np.broadcast_to(cast, self._shape)
        except ValueError as error:
            with np.printoptions(threshold=20):
                bound = " ".join(str(bound).split())
            raise ValueError(f"Box cannot use the bound {bound} for shape {self._shape}: {error}") from error

    @property
    def low(self) -> PyTree:
        """The lower bound in the shape of a value: a numpy array, or a JAX array where it is traced."""
        return self._low

    @property
    def high(self) -> PyTree:
        """The upper bound likewise."""
        return self._high

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def dtype(self) -> np.dtype:
        return self._dtype

    def _sample(self, key: jax.Array) -> jax.Array:
        if self._dtype == np.bool_:
            low, high = self._low.astype(np.int32), self._high.astype(np.int32)
            return sample_integers(key, self._shape, low, high).astype(bool)
        if self._dtype.kind in "iu":
            return sample_integers(key, self._shape, self._low, self._high).astype(self._dtype)
        concrete = isinstance(self._low, np.ndarray) and isinstance(self._high, np.ndarray)
        if concrete and np.isfinite(_distinct(self._low)).all() and np.isfinite(_distinct(self._high)).all():
            unit = random.unit(random.bits(key, self._shape))
            return _between(unit, self._low, self._high).astype(self._dtype)
        return self._sample_unbounded(key)

    def _sample_unbounded(self, key: jax.Array) -> jax.Array:
        low, high = jnp.asarray(self._low, jnp.float32), jnp.asarray(self._high, jnp.float32)
        unit = random.unit(random.bits(key, self._shape))
        tail = -jnp.log1p(-unit)  # exponential with mean 1
        has_low, has_high = jnp.isfinite(low), jnp.isfinite(high)
        finite_low, finite_high = jnp.where(has_low, low, 0), jnp.where(has_high, high, 0)
        bounded = _between(unit, finite_low, jnp.where(has_high, high, finite_low))
        one_sided = jnp.where(has_low, finite_low + tail, finite_high - tail)
        # The inverse CDF of the normal distribution, at the midpoints of the steps of `unit`: never at 0 or 1.
        free = np.float32(np.sqrt(2)) * lax.erf_inv(2 * unit - np.float32(1 - 2**-23))
        value = jnp.where(has_low & has_high, bounded, jnp.where(has_low | has_high, one_sided, free))
        return jnp.clip(value, low, high).astype(self._dtype)

    def mismatch(self, value: PyTree) -> str | None:
        return array_mismatch(value, self._shape, trees.kind(self._dtype))

    def value_problem(self, value: PyTree) -> str | None:
        if isinstance(value, jax.Array):
            return None
        values = np.asarray(value)
        held = self.cast(values)
        is_integer = self._dtype.kind in "iu"
        is_right = held == values if is_integer else np.isfinite(held)
        if is_right.all():
            return None
        return f"got {values[~is_right].flat[0]}" + ("" if is_integer else f", which is not finite as {self._dtype}")

    def _within(self, value: PyTree) -> jax.Array:
        if not isinstance(value, jax.Array):
            value = np.asarray(value)
        if self._dtype == np.bool_:
            value = value.astype(np.int32)
            return jnp.asarray(((value >= self._low.astype(np.int32)) & (value <= self._high.astype(np.int32))).all())
        with np.errstate(over="ignore"):
            cast = value.astype(self._dtype)
        within = (cast >= self._low) & (cast <= self._high)
        if self._dtype.kind in "iu":  # a wider integer may wrap around into the bounds
            within &= (cast.astype(value.dtype) == value) & ((cast < 0) == (value < 0))
        else:  # a wider float may become infinite
            within &= (abs(cast) < np.inf) | (abs(value) == np.inf)
        return jnp.asarray(within.all())

    def batch(self, num: int) -> Box:
        num = checks.positive_integer("num", num)
        return Box(self._low, self._high, (num, *self._shape), self._dtype)

    def unbatch(self) -> Space:
        return Box(self._low[0], self._high[0], self._shape[1:], self._dtype) if self._shape else super().unbatch()

    def flat_space(self) -> Box:
        return Box(self._low.reshape(-1), self._high.reshape(-1), None, self._dtype)

    def flatten(self, value: PyTree) -> jax.Array:
        return jnp.asarray(value).reshape(-1)

    def _static(self) -> tuple[PyTree, ...]:
        return (self._shape, self._dtype.name, _bytes(self._low), _bytes(self._high))

    def __repr__(self) -> str:
        return f"Box({_short(self._low)}, {_short(self._high)}, {self._shape}, {self._dtype.name})"


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
    if isinstance(bound, np.ndarray) and _is_constant(bound):
        return f"{bound.flat[0]:g}" if bound.dtype.kind == "f" else str(bound.flat[0])
    if not isinstance(bound, np.ndarray) or bound.size > 8:
        return "..."
    if bound.dtype.kind == "f":
        bound = np.array([float(f"{x:g}") for x in bound.flat]).reshape(bound.shape)
    return str(bound.tolist())


NATURAL_NUMBERS = Box(0, np.iinfo(np.int32).max, (), jnp.int32)
"""int32 scalars from 0 on, such as a state's `time`."""
