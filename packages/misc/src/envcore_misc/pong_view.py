"""Observations of Pong.

A cell shows a piece if the masks of its row and of its column both have the piece's bit: one operation on bytes per
cell. The masks are stored first, both by one call: 700 instead of 880 ns per step (2,048 environments).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore.fusion import compute_once, recomputed

_BALL, _LAST, _LEFT, _RIGHT = (np.uint8(2**i) for i in range(4))
_FRAMES = (_LEFT | _RIGHT, _BALL, _LAST)
_BOARD = (_LEFT | _RIGHT | _BALL,)


def frames(
    ball: jax.Array, last: jax.Array, centers: jax.Array, time: jax.Array, height: int, width: int, half: int
) -> jax.Array:
    """Whether a cell shows a paddle, the ball, the ball one step before: bool (height, width, 3).

    Args:
      ball: its row and column, float32 (2,).
      last: those one step before.
      centers: rows of the left and the right paddle's center, float32 (2,).
      time: steps taken, int32 ().
      height: rows of the board.
      width: its columns.
      half: rows of a paddle on either side of its center.
    """
    rows, columns = _pieces(ball, last, centers, height, width, half, _FRAMES)
    return recomputed(compute_once(_show_frames, rows, columns).reshape(height, width, 3), time)


def board(
    ball: jax.Array, last: jax.Array, centers: jax.Array, time: jax.Array, height: int, width: int, half: int
) -> jax.Array:
    """0 for nothing, 1 for a paddle, 2 for the ball: uint8 (1, height, width); arguments as for `frames`."""
    rows, columns = _pieces(ball, last, centers, height, width, half, _BOARD)
    return compute_once(_show_board, rows, columns)[None]


def _pieces(
    ball: jax.Array,
    last: jax.Array,
    centers: jax.Array,
    height: int,
    width: int,
    half: int,
    frames: tuple[np.uint8, ...],
) -> tuple[jax.Array, jax.Array]:
    """The pieces that each row and each column shows, uint8; columns are repeated for each frame."""

    def pieces(ball: jax.Array, last: jax.Array, centers: jax.Array) -> tuple[jax.Array, jax.Array]:
        row, column = _numbers(height), _numbers(width)
        rows = _balls(row, ball[0], last[0])
        rows |= _paddle(row, centers[0], half, _LEFT)
        rows |= _paddle(row, centers[1], half, _RIGHT)
        column, shown = np.repeat(column, len(frames)), np.tile(np.array(frames), width)
        paddles = np.where(column == 0, _LEFT, 0) + np.where(column == width - 1, _RIGHT, 0)
        return rows, (_balls(column, ball[1], last[1]) | paddles.astype(np.uint8)) & shown

    return compute_once(pieces, ball, last, centers)


def _show_frames(rows: jax.Array, columns: jax.Array) -> jax.Array:
    return (rows[:, None] & columns[None]) != 0


def _show_board(rows: jax.Array, columns: jax.Array) -> jax.Array:
    pieces = rows[:, None] & columns[None]
    return jnp.where((pieces & (_LEFT | _RIGHT)) != 0, np.uint8(1), pieces * np.uint8(2))


def _numbers(count: int) -> np.ndarray:
    """The numbers of rows or columns, in as few bytes as possible, which makes comparisons fastest."""
    return np.arange(count, dtype=np.min_scalar_type(count - 1))


def _balls(cells: np.ndarray, now: jax.Array, before: jax.Array) -> jax.Array:
    """Which of the balls each row or column shows, now and a step before; balls off the board are shown at its edge."""

    def show(position: jax.Array, piece: np.uint8) -> jax.Array:
        cell = jnp.clip(jnp.floor(position), 0, int(cells[-1])).astype(cells.dtype)
        return jnp.where(cells == cell, piece, np.uint8(0))

    return show(now, _BALL) | show(before, _LAST)


def _paddle(cells: np.ndarray, center: jax.Array, half: int, piece: np.uint8) -> jax.Array:
    """The rows that show a paddle."""
    ends = [jnp.clip(jnp.floor(center) + side, 0, int(cells[-1])).astype(cells.dtype) for side in (-half, half)]
    return jnp.where((cells >= ends[0]) & (cells <= ends[1]), piece, np.uint8(0))
