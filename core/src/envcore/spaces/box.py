"""`Box`: arrays between two bounds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envcore import random
from envcore.spaces.base import Space, array_mismatch, sample_integers


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
            return sample_integers(key, self._shape, self.low.astype(np.int32), self.high.astype(np.int32)).astype(bool)
        if self._dtype.kind in "iu":
            return sample_integers(key, self._shape, self.low, self.high).astype(self._dtype)
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
            return array_mismatch(value, self._shape, boolean=True)
        return array_mismatch(value, self._shape, integer=self._dtype.kind in "iu")

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


def _between(unit: jax.Array, low: Any, high: Any) -> jax.Array:
    """Maps [0, 1) onto [low, high] without overflow for any finite bounds."""
    low, high = jnp.asarray(low, jnp.float32), jnp.asarray(high, jnp.float32)
    return jnp.clip(low * (1 - unit) + high * unit, low, high)


def _shape(bound: Any) -> tuple[int, ...]:
    return (len(bound),) if isinstance(bound, list | tuple) else np.shape(bound)


def _short(bound: Any) -> str:
    if isinstance(bound, np.ndarray) and bound.size and (bound == bound.flat[0]).all():
        return f"{bound.flat[0]:g}" if bound.dtype.kind == "f" else str(bound.flat[0])
    return str(bound.tolist()) if isinstance(bound, np.ndarray) and bound.size <= 8 else "..."
