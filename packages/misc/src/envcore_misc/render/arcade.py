"""Pictures of Pong, on the dark screen of an arcade."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting
from envcore.painting import figures

if TYPE_CHECKING:
    from envcore_misc.pong import Pong, PongParams, PongState

_LINE: painting.Color = (84, 92, 107)


@painting.picture
def paint_pong(state: PongState, params: PongParams, height: int, game: Pong) -> jax.Array:
    """The court, the paddles, those of the agent in orange, and the ball with a trail from its last position."""
    rows, columns = game.height, game.width
    window = painting.Window.around((-1.0, columns + 1.0), (-1.5, rows + 1.5), (columns + 2) / (rows + 3))
    ball, trail = (_square(place, rows) for place in (state.ball_position, state.last_ball_position))
    left, right = (
        _paddle(column, center, game)
        for column, center in ((0, state.paddle_centers[0]), (columns - 1, state.paddle_centers[1]))
    )
    by_agent = jnp.logical_not(params.use_ai_policy) if game.rules == "gymnax" else True
    return painting.paint(
        height,
        window,
        (_dashes(columns / 2, rows), _LINE),
        (
            painting.union(*[painting.box((columns / 2, y), (columns + 2.0, 0.8)) for y in (-0.9, rows + 0.9)]),
            painting.STONE,
        ),
        (left, painting.ORANGE),
        (right, figures.either(by_agent, painting.ORANGE, painting.PAPER)),
        (trail, _LINE),
        (ball, painting.YELLOW),
        background=painting.INK,
    )


def _paddle(column: int, center: jax.Array, game: Pong) -> painting.Shape:
    """A paddle of whole cells; off the board it is clipped to the edge."""
    half, last = game.paddle_half_height, game.height - 1
    top, bottom = jnp.clip(center - half, 0, last), jnp.clip(center + half, 0, last) + 1
    return painting.box((column + 0.5, game.height - (top + bottom) / 2), (1.0, bottom - top))


def _square(place: jax.Array, rows: int) -> painting.Shape:
    return painting.box((place[1] + 0.5, rows - 0.5 - place[0]), (1.4, 1.4))


def _dashes(x: Any, rows: int) -> painting.Shape:
    """The dashed center line; dashes and gaps are one and a half rows long."""

    def distance(across: jax.Array, y: jax.Array) -> jax.Array:
        along = jnp.abs(y / 3 - jnp.floor(y / 3) - np.float32(0.5)) * 3 - np.float32(0.75)
        line = jnp.maximum(along, jnp.abs(across - np.float32(x)) - np.float32(0.15))
        return jnp.maximum(line, jnp.maximum(-y, y - np.float32(rows)))

    return distance
