"""Up to 32 objects in the bits of a few words: a *mask* selects some of them, a *number* has a value for each.

Bit i of a mask belongs to object i. A number of n bits is n words, lowest first, whose bits i together are the value of
object i. A few bit operations on words of shape () then do for all objects what arrays would do elementwise. XLA's CPU
backend vectorizes them over a batch, and no reductions, gathers or sorts are needed.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike

Number = tuple[jax.Array, ...]
T = TypeVar("T")

NUM_SLOTS = 32
_ONE = np.uint32(1)


def fill(flag: ArrayLike) -> jax.Array:
    """The mask of all objects where `flag`, else of none."""
    return lax.neg(jnp.asarray(flag).astype(jnp.uint32))


def equal(number: Number, value: ArrayLike) -> jax.Array:
    """The mask of the objects whose number is `value`, an int32 of which only the number's bits count."""
    return functools.reduce(lax.bitwise_and, [plane ^ ~bit for plane, bit in _with_bits(number, value)])


def put(number: Number, mask: jax.Array, value: ArrayLike) -> Number:
    """The number with `value`, an int32, for the objects of the mask."""
    return tuple((plane & ~mask) | (bit & mask) for plane, bit in _with_bits(number, value))


def select(mask: jax.Array, ours: Number, theirs: Number) -> Number:
    """`ours` for the objects of the mask, `theirs` for the others."""
    return tuple((x & mask) | (y & ~mask) for x, y in zip(ours, theirs, strict=True))


def increase(number: Number, mask: jax.Array) -> Number:
    """The number plus one for the objects of the mask; it wraps around."""
    found: list[jax.Array] = []
    for plane in number:
        found.append(plane ^ mask)
        mask = mask & plane
    return tuple(found)


def decrease(number: Number, mask: jax.Array) -> Number:
    """The number minus one for the objects of the mask; it wraps around."""
    found: list[jax.Array] = []
    for plane in number:
        found.append(plane ^ mask)
        mask = mask & ~plane
    return tuple(found)


def first(mask: jax.Array) -> jax.Array:
    """The first object of a mask; none if the mask is empty."""
    return mask & lax.neg(mask)


def last(mask: jax.Array) -> jax.Array:
    """The last object of a mask; none if the mask is empty."""
    for distance in (1, 2, 4, 8, 16):
        mask = mask | lax.shift_right_logical(mask, np.uint32(distance))
    return mask ^ lax.shift_right_logical(mask, _ONE)


def places_that_change(taken: jax.Array, enters: jax.Array) -> jax.Array:
    """The places that change where a new object `enters`: all up to the first that is not taken."""
    free = ~taken & (taken + _ONE)
    return (free | (free - _ONE)) & fill(enters)


def insert(objects: T, changed: jax.Array, new: jax.Array) -> T:
    """Inserts a new object first; objects before the first free place move up by one and keep their order.

    Args:
      objects: a pytree of masks and numbers.
      changed: from `places_that_change`.
      new: its bits, bit i for leaf i of the pytree.
    """
    planes, tree = jax.tree.flatten(objects)
    for i, plane in enumerate(planes):
        bit = lax.shift_right_logical(new, np.uint32(i)) & _ONE
        planes[i] = (plane & ~changed) | ((lax.shift_left(plane, _ONE) | bit) & changed)
    return jax.tree.unflatten(tree, planes)


def from_values(values: jax.Array, width: int) -> Number:
    """The number of `width` bits with these values, int32 or bool (32,)."""
    places = np.arange(NUM_SLOTS, dtype=np.uint32)
    bits = [lax.shift_right_logical(values.astype(jnp.uint32), np.uint32(i)) & _ONE for i in range(width)]
    return tuple(lax.shift_left(bit, places).sum(dtype=jnp.uint32) for bit in bits)


def to_values(number: Number) -> jax.Array:
    """The values of all objects, int32 (32,)."""
    places = np.arange(NUM_SLOTS, dtype=np.uint32)
    bits = [lax.shift_right_logical(jnp.broadcast_to(plane, (NUM_SLOTS,)), places) & _ONE for plane in number]
    return union([lax.shift_left(bit, np.uint32(i)) for i, bit in enumerate(bits)]).astype(jnp.int32)


def union(masks: Sequence[jax.Array]) -> jax.Array:
    """The objects that are in any of the masks."""
    return functools.reduce(lax.bitwise_or, masks)


def _with_bits(number: Number, value: ArrayLike) -> list[tuple[jax.Array, jax.Array]]:
    """Each word of a number, with all ones if the value has this bit, else all zeros."""
    word = jnp.asarray(value).astype(jnp.uint32)
    return [(plane, fill(lax.shift_right_logical(word, np.uint32(i)) & _ONE)) for i, plane in enumerate(number)]
