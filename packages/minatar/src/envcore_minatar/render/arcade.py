"""Pictures of Breakout and Space Invaders."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting
from envcore.painting import figures

from envcore_minatar.packing import SIDE
from envcore_minatar.render.parts import DIM, by_row, rows_of

_CENTER = (0.0, 0.0)
_BRICK_ROWS = rows_of((painting.RED, painting.YELLOW, painting.GREEN), first=1)
_ANGLES = np.array([0.75, 0.25, -0.25, -0.75], np.float32) * np.float32(np.pi)  # of the ball's directions


@painting.picture
def paint_breakout(
    height: int,
    ball_y: jax.Array,
    ball_x: jax.Array,
    ball_dir: jax.Array,
    pos: jax.Array,
    last_y: jax.Array,
    last_x: jax.Array,
    strike: jax.Array,
    brick_map: jax.Array,
) -> jax.Array:
    """The bricks, the paddle, and the ball with a trail from its last place and a nose in its direction.

    The ball is hollow while it passes through bricks.

    Args:
      height: of the picture.
      ball_y, ball_x, last_y, last_x: rows and columns of the ball and of its last place, int32 ().
      ball_dir: 0 up left, 1 up right, 2 down right, 3 down left, int32 ().
      pos: column of the paddle, int32 ().
      strike: the ball passes through bricks, bool ().
      brick_map: cells with bricks, bool (10, 10).
    """
    ball, last = figures.cell(ball_y, ball_x, SIDE), figures.cell(last_y, last_x, SIDE)
    nose = painting.placed(
        painting.polygon((0.0, -0.26), (0.5, 0.0), (0.0, 0.26)), ball, jnp.asarray(_ANGLES)[ball_dir]
    )
    paddle = figures.cell(SIDE - 1, pos, SIDE)
    return painting.paint(
        height,
        painting.Window.around((0.0, SIDE), (0.0, SIDE)),
        (painting.repeated(painting.box(_CENTER, (0.92, 0.8), corner=0.08), brick_map), by_row(_BRICK_ROWS)),
        (painting.segment(last, ball, 0.1), painting.STONE),
        (painting.box((paddle[0], paddle[1] + 0.1), (1.0, 0.5), corner=0.15), painting.BLUE),
        (painting.union(painting.circle(ball, 0.3), nose), painting.INK),
        (painting.shown(painting.circle(ball, 0.16), strike), painting.PAPER),
        background=painting.SHADE,
    )


@painting.picture
def paint_space_invaders(
    height: int,
    pos: jax.Array,
    shot_timer: jax.Array,
    alien_dir: jax.Array,
    enemy_move_interval: jax.Array,
    alien_move_timer: jax.Array,
    alien_shot_timer: jax.Array,
    alien_map: jax.Array,
    f_bullet_map: jax.Array,
    e_bullet_map: jax.Array,
    *,
    cool_down: int,
    shot_interval: int,
    slowest: int,
) -> jax.Array:
    """The aliens, who look where they march, the cannon, bullets of both sides, and two gauges below.

    The barrel grows until the cannon can shoot, and then has a bright tip. The left gauge empties until the aliens
    march, and is as long as their interval; the right one empties until an alien shoots.

    Args:
      height: of the picture.
      pos: column of the cannon, int32 ().
      shot_timer, alien_move_timer, alien_shot_timer: steps until each may happen, int32 ().
      alien_dir: -1 if aliens move left, 1 if they move right, int32 ().
      enemy_move_interval: steps from one move of the aliens to the next, int32 ().
      alien_map, f_bullet_map, e_bullet_map: cells with aliens, the cannon's bullets and theirs, bool (10, 10).
      cool_down, shot_interval, slowest: the largest `shot_timer`, `alien_shot_timer` and `enemy_move_interval`.
    """
    x, y = figures.cell(SIDE - 1, pos, SIDE)
    loaded = 1 - shot_timer / cool_down
    barrel = painting.segment((x, y - 0.1), (x, y - 0.1 + 0.42 * loaded), 0.11)
    cannon = painting.union(painting.box((x, y - 0.28), (0.96, 0.4), corner=0.1), barrel)
    look = alien_dir / 12
    eyes = painting.union(painting.circle((look - 0.14, 0.08), 0.085), painting.circle((look + 0.14, 0.08), 0.085))
    march = enemy_move_interval / slowest * 4.5
    return painting.paint(
        height,
        painting.Window.around((-0.25, SIDE + 0.25), (-0.5, SIDE)),
        (painting.repeated(_alien(), alien_map), painting.PAPER),
        (painting.repeated(eyes, alien_map), painting.INK),
        (painting.repeated(_bullet(1), f_bullet_map), painting.YELLOW),
        (painting.repeated(_bullet(-1), e_bullet_map), painting.RED),
        (cannon, painting.ORANGE),
        (painting.shown(painting.circle((x, y + 0.32), 0.11), shot_timer == 0), painting.YELLOW),
        *_gauge(0.3, march, alien_move_timer / enemy_move_interval, painting.PAPER),
        *_gauge(5.2, 4.5, alien_shot_timer / shot_interval, painting.RED),
        background=painting.INK,
    )


def _alien() -> painting.Shape:
    legs = [painting.segment((0.16 * side, -0.1), (0.3 * side, -0.34), 0.06) for side in (-1, 1)]
    antennae = [painting.segment((0.12 * side, 0.2), (0.22 * side, 0.38), 0.045) for side in (-1, 1)]
    return painting.union(painting.box((0.0, 0.05), (0.72, 0.42), corner=0.16), *legs, *antennae)


def _bullet(up: int) -> painting.Shape:
    """A bullet that points up for 1 and down for -1."""
    point = painting.polygon((-0.17, 0.08), (0.17, 0.08), (0.0, 0.44))
    bullet = painting.union(painting.box((0.0, -0.12), (0.16, 0.5), corner=0.05), point)
    return lambda x, y: bullet(x, y * up)


def _gauge(x: float, length: painting.Number, share: jax.Array, color: painting.Color) -> list[figures.Layer]:
    (track, _), fill = figures.gauge((x, -0.25), length, share, color, width=0.18)
    return [(track, DIM), fill]
