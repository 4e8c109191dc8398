"""Pictures of Pong, on the dark screen of an arcade."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import draw, figures

if TYPE_CHECKING:
    from envcore_misc.pong import Pong, PongParams, PongState

_LINE: draw.Colour = (84, 92, 107)


@draw.picture
def draw_pong(state: PongState, params: PongParams, height: int, game: Pong) -> jax.Array:
    """The court, the paddles, orange where the agent moves them, and the ball with a trail from its last place."""
    rows, columns = game.height, game.width
    window = draw.Window.around((-1.0, columns + 1.0), (-1.5, rows + 1.5), (columns + 2) / (rows + 3))
    ball, trail = (_square(place, rows) for place in (state.ball_position, state.last_ball_position))
    left, right = (
        _paddle(column, center, game)
        for column, center in ((0, state.paddle_centers[0]), (columns - 1, state.paddle_centers[1]))
    )
    by_agent = jnp.logical_not(params.use_ai_policy) if game.rules == "gymnax" else True
    return draw.paint(
        height,
        window,
        (_dashes(columns / 2, rows), _LINE),
        (draw.union(*[draw.box((columns / 2, y), (columns + 2.0, 0.8)) for y in (-0.9, rows + 0.9)]), draw.STONE),
        (left, draw.ORANGE),
        (right, figures.either(by_agent, draw.ORANGE, draw.PAPER)),
        (trail, _LINE),
        (ball, draw.YELLOW),
        background=draw.INK,
    )


def _paddle(column: int, center: jax.Array, game: Pong) -> draw.Shape:
    """A paddle of whole cells; what is off the board shows at its edge."""
    half, last = game.paddle_half_height, game.height - 1
    top, bottom = jnp.clip(center - half, 0, last), jnp.clip(center + half, 0, last) + 1
    return draw.box((column + 0.5, game.height - (top + bottom) / 2), (1.0, bottom - top))


def _square(place: jax.Array, rows: int) -> draw.Shape:
    return draw.box((place[1] + 0.5, rows - 0.5 - place[0]), (1.4, 1.4))


def _dashes(x: Any, rows: int) -> draw.Shape:
    """The centre line, on and off every row and a half."""

    def distance(across: jax.Array, y: jax.Array) -> jax.Array:
        along = jnp.abs(y / 3 - jnp.floor(y / 3) - np.float32(0.5)) * 3 - np.float32(0.75)
        line = jnp.maximum(along, jnp.abs(across - np.float32(x)) - np.float32(0.15))
        return jnp.maximum(line, jnp.maximum(-y, y - np.float32(rows)))

    return distance
