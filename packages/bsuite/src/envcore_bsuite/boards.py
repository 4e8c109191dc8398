"""Observations that show pieces on a board."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from envcore.fusion import compute_once
from jax import lax

Place = tuple[jax.Array, jax.Array]
"""Row and column, int32 () each."""


def show(pieces: Sequence[Place], rows: int, columns: int) -> jax.Array:
    """A board, float32 (rows, columns): 1 where a piece is, else 0; a piece below the last row is not shown.

    It takes one comparison per cell and piece, of the cell's number. Comparing rows and columns takes 2.7 times as long
    in Catch with 2,048 environments on one core. The fusion boundary keeps the reshape out of the loop, which XLA then
    vectorizes: where observations keep their shape, a step of Catch takes 24 instead of 55 ns.
    """

    def hit(cells: list[jax.Array]) -> jax.Array:
        numbers = np.arange(rows * columns, dtype=np.int32)
        return functools.reduce(lax.bitwise_or, [numbers == cell for cell in cells]).astype(jnp.float32)

    return compute_once(hit, [row * columns + column for row, column in pieces]).reshape(rows, columns)
