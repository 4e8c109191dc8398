"""Pictures of Catch and Deep Sea: uint8 (height, width, 3)."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from envcore import draw, figures

if TYPE_CHECKING:
    from envcore_bsuite.catch import CatchParams, CatchState
    from envcore_bsuite.deep_sea import DeepSeaParams, DeepSeaState

_SURFACE: draw.Colour = (196, 222, 240)
_DEPTHS: draw.Colour = (52, 92, 146)
_SAND: draw.Colour = (231, 214, 172)


@draw.picture
def draw_catch(state: CatchState, params: CatchParams, height: int, rows: int, columns: int) -> jax.Array:
    """The board, the ball and the paddle, one unit a cell."""
    window, board = figures.board(rows, columns)
    paddle = draw.box(figures.cell(state.paddle_y, state.paddle_x, rows), (0.94, 0.4), corner=0.15)
    ball = draw.circle(figures.cell(state.ball_y, state.ball_x, rows), 0.36)
    return draw.paint(height, window, board, (paddle, draw.BLUE), (ball, draw.ORANGE))


@draw.picture
def draw_deep_sea(state: DeepSeaState, params: DeepSeaParams, height: int) -> jax.Array:
    """The sea, darker with depth, the diver, and a chest in the bottom right cell; one unit a cell.

    A line leads to the chest until the diver turns left on it. At the end of an episode the diver is on the sand.
    In a large sea, diver and chest are larger than their cells, and cells of a few pixels are not told apart.
    """
    size = params.action_mapping.shape[0]
    unit = max(1.0, size / 10)
    pad = unit / 2
    aspect = (size + 2 * pad) / (size + 0.5 + 2 * pad)
    window = draw.Window.around(x=(-pad, size + pad), y=(-0.5 - pad, size + pad), aspect=aspect)
    sea = draw.box((size / 2, size / 2), (size, size))
    tiles = draw.repeated(draw.box((0.0, 0.0), (0.95, 0.95), corner=0.06), np.ones((size, size), np.bool_))

    def water(x: jax.Array, y: jax.Array) -> jax.Array:
        pixels = y.shape[0] / size
        return (tiles if pixels >= 6 else sea)(x, y)

    end = (size - 0.5, 0.5)
    line = draw.segment((0.5, size - 0.5), end, 0.04 * unit)
    chest = draw.box((0.0, 0.0), (0.84, 0.68), corner=0.14)
    fittings = draw.union(draw.box((0.0, 0.08), (0.84, 0.06)), draw.box((0.0, 0.06), (0.16, 0.22), corner=0.04))
    diver = draw.circle(figures.cell(jnp.minimum(state.row, size), state.column, size), 0.33 * unit)
    return draw.paint(
        height,
        window,
        (draw.below(0.0), _SAND),
        (water, functools.partial(_depth, size)),
        (draw.shown(line, ~state.bad_episode), draw.PAPER),
        (draw.scaled(chest, end, unit), draw.YELLOW),
        (draw.scaled(fittings, end, unit), draw.INK),
        (diver, draw.ORANGE),
    )


def _depth(size: int, x: jax.Array, y: jax.Array) -> draw.Colour:
    """The colour of the water at a height above the ground."""
    del x
    share = jnp.clip((jnp.floor(y) + np.float32(0.5)) / size, 0, 1)
    red, green, blue = (np.float32(b) + share * np.float32(a - b) for a, b in zip(_SURFACE, _DEPTHS, strict=True))
    return red, green, blue
