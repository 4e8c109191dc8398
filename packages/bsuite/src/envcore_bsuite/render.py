"""Pictures of bsuite's environments: uint8 (height, width, 3)."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import jax
from envcore import draw

if TYPE_CHECKING:
    from envcore_bsuite.catch import CatchState


@functools.partial(jax.jit, static_argnums=(1, 2, 3), inline=True)
def draw_catch(state: CatchState, rows: int, columns: int, height: int) -> jax.Array:
    """The board, the ball and the paddle, one unit a cell."""
    window = draw.Window.around(x=(-0.5, columns + 0.5), y=(-0.5, rows + 0.5), aspect=(columns + 1) / (rows + 1))

    def centre(column: jax.Array, row: jax.Array) -> draw.Point:
        return column + 0.5, rows - 0.5 - row

    return draw.paint(
        height,
        window,
        (draw.box((columns / 2, rows / 2), (columns + 0.2, rows + 0.2), corner=0.15), draw.SHADE),
        (draw.box(centre(state.paddle_x, state.paddle_y), (0.94, 0.4), corner=0.15), draw.BLUE),
        (draw.circle(centre(state.ball_x, state.ball_y), 0.36), draw.ORANGE),
    )
