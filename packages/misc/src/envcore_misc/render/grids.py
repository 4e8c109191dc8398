"""Pictures of grids and mazes: a tile per cell, goals green, walls gray, the walker orange."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting
from envcore.painting import figures
from envcore.typing import IntParam

_ICE: painting.Color = (205, 226, 240)


@painting.picture
def paint_frozen_lake(height: int, position: jax.Array, *, lake: tuple[str, ...]) -> jax.Array:
    """The ice with its holes, a flag on each goal, and the walker on cell `position`, int32 (), counted by rows."""
    tiles = np.array([list(line) for line in lake])
    rows, columns = tiles.shape
    window, _ = figures.board(rows, columns)
    at = _cell(jnp.stack(jnp.divmod(position, np.int32(columns))), rows)
    return painting.paint(
        height,
        window,
        (figures.tiles(np.ones_like(tiles, np.bool_)), _ICE),
        (painting.repeated(painting.circle((0.0, 0.0), 0.36), tiles == "H"), painting.INK),
        (figures.tiles(tiles == "G"), painting.GREEN),
        (painting.repeated(_flag(), tiles == "G"), painting.PAPER),
        figures.walker(at),
    )


@painting.picture
def paint_four_rooms(height: int, pos: jax.Array, goal: jax.Array, walls: jax.Array | np.ndarray) -> jax.Array:
    """The house, whose walls are bool (rows, columns), the goal and the walker, row and column int32 (2,); a square."""
    window, board = figures.board(*walls.shape)
    rows = len(walls)
    return painting.paint(
        height,
        window,
        board,
        (figures.tiles(np.ones(walls.shape, np.bool_)), painting.shades(walls, painting.PAPER, painting.STONE)),
        _goal(_cell(goal, rows)),
        figures.walker(_cell(pos, rows), 0.4),
    )


@painting.picture
def paint_meta_maze(
    height: int,
    time: jax.Array,
    pos: jax.Array,
    goal: jax.Array,
    last_reward: jax.Array,
    max_steps_in_episode: IntParam,
    walls: jax.Array | np.ndarray,
    *,
    rf_size: int,
) -> jax.Array:
    """The maze, the hidden goal, a frame around the walker's view, and below a lamp and the time.

    The lamp is green after a reward and red after a punishment.

    Args:
      height: of the picture.
      time, max_steps_in_episode: int32 ().
      pos, goal: row and column, int32 (2,).
      last_reward: float32 ().
      walls: where walls and pillars are, bool (side, side).
      rf_size: rows and columns that the walker sees.
    """
    side = len(walls)
    _, board = figures.board(side, side)
    foot = side / 11
    window = painting.Window.around(
        (-0.5, side + 0.5), (-1.5 * foot, side + 0.5), (side + 1) / (side + 0.5 + 1.5 * foot)
    )
    at = _cell(pos, side)
    lamp = figures.either(last_reward < 0, painting.RED, painting.SHADE)
    lamp = figures.either(last_reward > 0, painting.GREEN, lamp)
    sight = painting.box(at, (rf_size - 0.14, rf_size - 0.14), corner=0.13)
    return painting.paint(
        height,
        window,
        board,
        (figures.tiles(np.ones(walls.shape, np.bool_)), painting.shades(walls, painting.PAPER, painting.STONE)),
        (painting.outline(sight, 0.14), painting.INK),
        _goal(_cell(goal, side)),
        figures.walker(at, 0.4),
        (painting.circle((0.5 * foot, -0.75 * foot), 0.4 * foot), lamp),
        *figures.gauge((1.5 * foot, -0.75 * foot), side - 1.8 * foot, time / max_steps_in_episode, width=0.3 * foot),
    )


def _flag() -> painting.Shape:
    """A flag on its pole, centered on (0, 0)."""
    pole = painting.box((-0.12, 0.0), (0.06, 0.7))
    return painting.union(pole, painting.polygon((-0.12, 0.05), (0.28, 0.2), (-0.12, 0.35)))


def _cell(place: jax.Array, rows: int) -> painting.Point:
    """The center of the cell in row `place[0]` and column `place[1]`."""
    return figures.cell(place[0], place[1], rows)


def _goal(at: painting.Point) -> figures.Layer:
    """A green tile, for mazes of many cells, where a flag would be too small."""
    return figures.tile(at), painting.GREEN
