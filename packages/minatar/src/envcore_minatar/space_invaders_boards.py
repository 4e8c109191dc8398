"""The phases of a step on the boards of Space Invaders: aliens, the cannon's bullets, the aliens' bullets.

A board is a list of the words of its rows, shape () each. XLA vectorizes operations on them over a batch; operations on
an array of ten rows take three times as long.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike

from envcore_minatar import slots
from envcore_minatar.packing import FULL_ROW, SIDE, bit

Rows = list[jax.Array]
"""A board: ten rows from the top, uint32 (), bit x is the cell in column x."""
BOTTOM = SIDE - 1
BOTTOM_MARK = np.uint32(1 << 3 * SIDE)
"""A bit set in the bottom row's word, which an observation tests at the cannon."""
WAVE = [np.uint32(0b0011111100)] * 4 + [np.uint32(0)] * (SIDE - 4)
"""The rows of a new wave of aliens."""


def bullets_fly(rows: jax.Array, pos: jax.Array, fires: jax.Array) -> tuple[Rows, Rows, Rows]:
    """Aliens, the cannon's bullets and the aliens', after the bullets have moved. Those off the board are removed."""
    words = [rows[y] for y in range(SIDE)]
    aliens = [word & FULL_ROW for word in words]
    ours = [lax.shift_right_logical(word, np.uint32(SIDE)) & FULL_ROW for word in words]
    theirs = [lax.shift_right_logical(word, np.uint32(2 * SIDE)) & FULL_ROW for word in words]

    none = jnp.zeros_like(words[0])
    ours[BOTTOM] = ours[BOTTOM] | jnp.where(fires, bit(pos), none)
    return aliens, [*ours[1:], none], [none, *theirs[:-1]]


def aliens_march(aliens: Rows, marches: jax.Array, right: jax.Array, turn: jax.Array) -> Rows:
    """The aliens after their move, if they move."""
    # None can leave the board sideways: they would turn. From the bottom row they wrap to the top, as in the original,
    # in the step that ends the game.
    to_right = (marches & ~turn & right).astype(jnp.uint32)
    to_left = (marches & ~turn & ~right).astype(jnp.uint32)
    aliens = [jnp.where(turn, aliens[y - 1], aliens[y]) for y in range(SIDE)]
    return [lax.shift_right_logical(lax.shift_left(row, to_right), to_left) for row in aliens]


def nearest_alien(aliens: Rows, cannon: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Row and column (a row with one bit set) of the lowest alien in the nearest occupied column."""
    columns = occupied_columns(aliens)
    up_to_cannon = cannon | (cannon - 1)
    left = _highest(columns & up_to_cannon)
    right = (columns & ~up_to_cannon) | bit(2 * SIDE)  # farther than any column, so a column on the left is nearer
    right = right & -right
    # With left = 2**l and right = 2**r: pos - l <= r - pos. Without a column on the left the product is 0.
    column = jnp.where(cannon * cannon <= left * right, left, right)
    row = functools.reduce(jnp.maximum, [jnp.where((aliens[y] & column) != 0, y, 0) for y in range(SIDE)])
    return row, column


def alien_shoots(theirs: Rows, shoots: jax.Array, row: jax.Array, column: jax.Array) -> Rows:
    """The aliens' bullets, with a new one at the alien that shoots."""
    bullet = column.astype(jnp.uint32)
    return [cells | jnp.where(shoots & (row == y), bullet, 0) for y, cells in enumerate(theirs)]


def aliens_die(aliens: Rows, ours: Rows) -> tuple[Rows, Rows]:
    """Aliens and the cannon's bullets without those that met."""
    pairs = list(zip(aliens, ours, strict=True))
    return [alien & ~bullet for alien, bullet in pairs], [bullet & ~alien for alien, bullet in pairs]


def next_wave(aliens: Rows, cleared: jax.Array) -> Rows:
    """The aliens, or the first ones of a new wave."""
    return [row | jnp.where(cleared, first, np.uint32(0)) for row, first in zip(aliens, WAVE, strict=True)]


def join_boards(aliens: Iterable[ArrayLike], ours: Iterable[ArrayLike], theirs: Iterable[ArrayLike]) -> jax.Array:
    """The words of the rows that hold these boards."""
    words = [
        row | lax.shift_left(our, np.uint32(SIDE)) | lax.shift_left(their, np.uint32(2 * SIDE))
        for row, our, their in zip(aliens, ours, theirs, strict=True)
    ]
    return jnp.stack([*words[:BOTTOM], words[BOTTOM] | BOTTOM_MARK])


def occupied_columns(rows: Rows) -> jax.Array:
    """The columns in which some row has a bit set."""
    return slots.union(rows)


def count(rows: Rows) -> jax.Array:
    """The number of bits set, int32 ()."""
    # Three rows fill a word, and processors count the bits of words one by one or by a dozen operations each.
    threes = [rows[y : y + 3] for y in range(0, SIDE, 3)]
    words = [slots.union([lax.shift_left(row, np.uint32(SIDE * i)) for i, row in enumerate(three)]) for three in threes]
    return functools.reduce(lax.add, map(lax.population_count, words)).astype(jnp.int32)


def _highest(row: jax.Array) -> jax.Array:
    """The highest bit of a row, and no other."""
    for distance in (1, 2, 4, 8):
        row = row | lax.shift_right_logical(row, np.uint32(distance))
    return row ^ lax.shift_right_logical(row, np.uint32(1))
