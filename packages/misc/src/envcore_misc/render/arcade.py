"""Pictures of Pong, on the dark screen of an arcade."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting
from envcore.painting import figures
from envcore.typing import BoolParam

_LINE: painting.Color = (84, 92, 107)


@painting.picture
def paint_pong(
    height: int,
    ball_position: jax.Array,
    last_ball_position: jax.Array,
    paddle_centers: jax.Array,
    agent_plays_both: BoolParam,
    *,
    size: tuple[int, int],
    paddle_half_height: int,
) -> jax.Array:
    """The court, the paddles, those of the agent in orange, and the ball with a trail from its last position.

    Args:
      height: of the picture.
      ball_position, last_ball_position: row and column, float32 (2,).
      paddle_centers: rows of the left and the right paddle, float32 (2,).
      agent_plays_both: whether the right paddle is the agent's too, bool ().
      size: rows and columns of the court.
      paddle_half_height: rows of a paddle on either side of its center.
    """
    rows, columns = size
    window = painting.Window.around((-1.0, columns + 1.0), (-1.5, rows + 1.5), (columns + 2) / (rows + 3))
    ball, trail = (_square(place, rows) for place in (ball_position, last_ball_position))
    left, right = (
        _paddle(column, center, rows, paddle_half_height)
        for column, center in ((0, paddle_centers[0]), (columns - 1, paddle_centers[1]))
    )
    return painting.paint(
        height,
        window,
        (_dashes(columns / 2, rows), _LINE),
        (
            painting.union(*[painting.box((columns / 2, y), (columns + 2.0, 0.8)) for y in (-0.9, rows + 0.9)]),
            painting.STONE,
        ),
        (left, painting.ORANGE),
        (right, figures.either(agent_plays_both, painting.ORANGE, painting.PAPER)),
        (trail, _LINE),
        (ball, painting.YELLOW),
        background=painting.INK,
    )


def _paddle(column: int, center: jax.Array, rows: int, half: int) -> painting.Shape:
    """A paddle of whole cells; off the board it is clipped to the edge."""
    top, bottom = (jnp.clip(edge, 0, rows - 1) for edge in (center - half, center + half))
    bottom = bottom + 1
    return painting.box((column + 0.5, rows - (top + bottom) / 2), (1.0, bottom - top))


def _square(place: jax.Array, rows: int) -> painting.Shape:
    return painting.box((place[1] + 0.5, rows - 0.5 - place[0]), (1.4, 1.4))


def _dashes(x: painting.Number, rows: int) -> painting.Shape:
    """The dashed center line; dashes and gaps are one and a half rows long."""

    def distance(across: jax.Array, y: jax.Array) -> jax.Array:
        along = jnp.abs(y / 3 - jnp.floor(y / 3) - np.float32(0.5)) * 3 - np.float32(0.75)
        line = jnp.maximum(along, jnp.abs(across - np.float32(x)) - np.float32(0.15))
        return jnp.maximum(line, jnp.maximum(-y, y - np.float32(rows)))

    return distance
