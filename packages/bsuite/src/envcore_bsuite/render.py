"""Pictures of bsuite's environments: uint8 (height, width, 3)."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import jax
from envcore import draw, figures

if TYPE_CHECKING:
    from envcore_bsuite.catch import CatchState


@functools.partial(jax.jit, static_argnums=(1, 2, 3), inline=True)
def draw_catch(state: CatchState, rows: int, columns: int, height: int) -> jax.Array:
    """The board, the ball and the paddle, one unit a cell."""
    window, board = figures.board(rows, columns)
    paddle = draw.box(figures.cell(state.paddle_y, state.paddle_x, rows), (0.94, 0.4), corner=0.15)
    ball = draw.circle(figures.cell(state.ball_y, state.ball_x, rows), 0.36)
    return draw.paint(height, window, board, (paddle, draw.BLUE), (ball, draw.ORANGE))
