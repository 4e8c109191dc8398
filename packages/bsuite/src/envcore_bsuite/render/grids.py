"""Pictures of Catch and Deep Sea: uint8 (height, width, 3)."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting
from envcore.painting import figures

_SURFACE: painting.Color = (196, 222, 240)
_DEPTHS: painting.Color = (84, 124, 178)
_SAND: painting.Color = (231, 214, 172)


@painting.picture
def paint_catch(
    height: int,
    ball_y: jax.Array,
    ball_x: jax.Array,
    paddle_y: jax.Array,
    paddle_x: jax.Array,
    *,
    rows: int,
    columns: int,
) -> jax.Array:
    """Paints the board, the ball and the paddle, at rows and columns, int32 () each. One unit is a cell."""
    window, board = figures.board(rows, columns)
    paddle = painting.box(figures.cell(paddle_y, paddle_x, rows), (0.94, 0.4), corner=0.15)
    ball = painting.circle(figures.cell(ball_y, ball_x, rows), 0.36)
    return painting.paint(height, window, board, (paddle, painting.BLUE), (ball, painting.ORANGE))


@painting.picture
def paint_deep_sea(height: int, row: jax.Array, column: jax.Array, bad_episode: jax.Array, *, size: int) -> jax.Array:
    """Paints the sea, darker with depth, the diver, and a chest in the bottom right cell. One unit is a cell.

    A line leads to the chest until the diver turns left on it. At the end of an episode, the diver is on the sand.
    In a large sea, diver and chest are larger than their cells, and cells of a few pixels are not separated.

    Args:
      height: height of the picture.
      row, column: position of the diver, int32 ().
      bad_episode: bool (), whether the diver has turned left on the line.
      size: number of rows and columns of the sea.
    """
    unit = max(1.0, size / 10)
    pad = unit / 2
    aspect = (size + 2 * pad) / (size + 0.5 + 2 * pad)
    window = painting.Window.around(x=(-pad, size + pad), y=(-0.5 - pad, size + pad), aspect=aspect)
    sea = painting.box((size / 2, size / 2), (size, size))
    tiles = painting.repeated(painting.box((0.0, 0.0), (0.95, 0.95), corner=0.06), np.ones((size, size), np.bool_))

    def water(x: jax.Array, y: jax.Array) -> jax.Array:
        pixels = y.shape[0] / size
        return (tiles if pixels >= 6 else sea)(x, y)

    end = (size - 0.5, 0.5)
    line = painting.segment((0.5, size - 0.5), end, 0.04 * unit)
    chest = painting.box((0.0, 0.0), (0.84, 0.68), corner=0.14)
    fittings = painting.union(
        painting.box((0.0, 0.08), (0.84, 0.06)), painting.box((0.0, 0.06), (0.16, 0.22), corner=0.04)
    )
    at = figures.cell(jnp.minimum(row, size), column, size)
    return painting.paint(
        height,
        window,
        (painting.half_plane(0.0), _SAND),
        (water, functools.partial(_depth, size)),
        (painting.shown(line, ~bad_episode), painting.PAPER),
        (painting.scaled(chest, end, unit), painting.YELLOW),
        (painting.scaled(fittings, end, unit), painting.INK),
        (painting.circle(at, 0.44 * unit), painting.INK),  # visible at every depth, unlike orange
        (painting.circle(at, 0.3 * unit), painting.ORANGE),
    )


def _depth(size: int, x: jax.Array, y: jax.Array) -> painting.Color:
    """Returns the color of the water at a height above the ground."""
    del x
    share = jnp.clip((jnp.floor(y) + np.float32(0.5)) / size, 0, 1)
    red, green, blue = (np.float32(b) + share * np.float32(a - b) for a, b in zip(_SURFACE, _DEPTHS, strict=True))
    return red, green, blue
