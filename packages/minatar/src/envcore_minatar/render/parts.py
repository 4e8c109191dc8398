"""What the pictures of several games need: boards of things, and shapes that face left or right."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting

from envcore_minatar.packing import SIDE

DIM: painting.Color = (84, 92, 107)
"""Lines on a dark background."""


def board(rows: jax.Array | np.ndarray, columns: jax.Array, exist: jax.Array) -> jax.Array:
    """The cells with one of n things, bool (10, 10), from int32 (n,), int32 (n,) and bool (n,).

    A thing outside the board is not shown.
    """
    side = np.arange(SIDE, dtype=np.int32)[None]
    in_row, in_column = (rows[:, None] == side) & exist[:, None], columns[:, None] == side
    return (in_row[:, :, None] & in_column[:, None, :]).any(0)


def facing(shape: painting.Shape, right: jax.Array) -> painting.Shape:
    """The shape, which is drawn facing right, mirrored unless `right`, bool ()."""
    return lambda x, y: shape(jnp.where(right, x, -x), y)


def repeated_both_ways(shape: painting.Shape, to_right: jax.Array, to_left: jax.Array) -> painting.Shape:
    """Copies of a shape that is drawn facing right, in the cells of two boards, bool (10, 10)."""
    mirrored = facing(shape, jnp.bool_(False))
    return painting.union(painting.repeated(shape, to_right), painting.repeated(mirrored, to_left))


def by_row(colors: jax.Array | np.ndarray) -> painting.Paint:
    """Paints each row of the board in its color, float32 (10, 3)."""
    table = jnp.asarray(colors, jnp.float32)

    def levels(x: jax.Array, y: jax.Array) -> painting.Color:
        del x
        row = jnp.clip(SIDE - 1 - jnp.floor(y).astype(jnp.int32), 0, SIDE - 1)
        return table[row, 0], table[row, 1], table[row, 2]

    return levels


def rows_of(colors: Sequence[painting.Color], first: int) -> np.ndarray:
    """The colors of rows from `first` on, float32 (10, 3), those of the others black."""
    table = np.zeros((SIDE, 3), np.float32)
    table[first : first + len(colors)] = colors
    return table
