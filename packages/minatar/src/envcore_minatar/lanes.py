"""Eight numbers from 0 to 15 in a word: lane i has bits 4i to 4i + 3.

Adding words adds all eight numbers at once, as long as no sum overflows its lane.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike

from envcore_minatar.packing import half

NUM_LANES = 8
ONES = np.uint32(0x11111111)
"""1 in every lane."""


def pack_lanes(numbers: Sequence[jax.Array] | jax.Array) -> jax.Array:
    """The word of eight numbers, uint32 of their shape."""
    fields = [lax.shift_left(number.astype(jnp.uint32), np.uint32(4 * i)) for i, number in enumerate(numbers)]
    return functools.reduce(lax.bitwise_or, fields)


def unpack_lanes(word: jax.Array) -> jax.Array:
    """The numbers of words, uint32 (...): int32 (..., 8)."""
    numbers = [lax.shift_right_logical(word, np.uint32(4 * i)) & np.uint32(15) for i in range(NUM_LANES)]
    return jnp.stack(numbers, axis=-1).astype(jnp.int32)


def lane(word: jax.Array, index: ArrayLike) -> jax.Array:
    """The number in a lane of a word of shape (), int32 of the index's shape; 0 if the index is outside 0 to 7."""
    shift = 4 * jnp.asarray(index).astype(jnp.uint32)
    return (lax.shift_right_logical(jnp.broadcast_to(word, shift.shape), shift) & np.uint32(15)).astype(jnp.int32)


def in_lane_of(row: np.ndarray, number: np.ndarray | int) -> np.ndarray:
    """The word that holds a number in the lane of a row; rows 1 to 8 have one, for others it is 0. uint32."""
    return np.where((row >= 1) & (row <= NUM_LANES), number << 4 * (row - 1) % 32, 0).astype(np.uint32)


def shown_in(row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """The value of a cell's `masked` lane if something is in the cell: its column plus one, uint16.

    In rows without a lane it is 1 and never matches: their masks leave 0.
    """
    return np.maximum(half(in_lane_of(row, column + 1)), 1)


def mask_of(flags: jax.Array) -> jax.Array:
    """The word whose bit i is flag i, from uint32 (..., 8) of zeros and ones."""
    return functools.reduce(lax.bitwise_or, [flags[..., i] << i for i in range(NUM_LANES)])


def not_zero(word: jax.Array) -> jax.Array:
    """1 in every lane that is not 0."""
    pairs = word | lax.shift_right_logical(word, np.uint32(1))
    return (pairs | lax.shift_right_logical(pairs, np.uint32(2))) & ONES


def spread(flags: jax.Array) -> jax.Array:
    """The word with bit i of `flags` in lane i."""
    flags = (flags | flags << 12) & np.uint32(0x000F000F)
    flags = (flags | flags << 6) & np.uint32(0x03030303)
    return (flags | flags << 3) & ONES
