"""Pictures of grids and mazes: a tile per cell, goals green, walls gray, the walker orange."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting
from envcore.painting import figures

if TYPE_CHECKING:
    from envcore_misc.four_rooms import FourRoomsParams, FourRoomsState
    from envcore_misc.frozen_lake import FrozenLakeParams, FrozenLakeState
    from envcore_misc.meta_maze import MetaMaze, MetaMazeParams, MetaMazeState

_ICE: painting.Color = (205, 226, 240)


@painting.picture
def paint_frozen_lake(
    state: FrozenLakeState, params: FrozenLakeParams, height: int, lake: tuple[str, ...]
) -> jax.Array:
    """The ice with its holes, a flag on each goal, and the walker."""
    tiles = np.array([list(line) for line in lake])
    rows, columns = tiles.shape
    window, _ = figures.board(rows, columns)
    flag, _ = figures.flag((0.0, 0.0))
    at = _cell(jnp.stack(jnp.divmod(state.position, np.int32(columns))), rows)
    return painting.paint(
        height,
        window,
        (figures.tiles(np.ones_like(tiles, np.bool_)), _ICE),
        (painting.repeated(painting.circle((0.0, 0.0), 0.36), tiles == "H"), painting.INK),
        (figures.tiles(tiles == "G"), painting.GREEN),
        (painting.repeated(flag, tiles == "G"), painting.PAPER),
        figures.walker(at),
    )


@painting.picture
def paint_four_rooms(state: FourRoomsState, params: FourRoomsParams, height: int, house: tuple[str, ...]) -> jax.Array:
    """The house, given by rows in which x is a wall, the goal and the walker; a square."""
    walls = np.array([[mark == "x" for mark in row] for row in house])
    window, board = figures.board(*walls.shape)
    rows = len(walls)
    return painting.paint(
        height,
        window,
        board,
        (figures.tiles(np.ones_like(walls)), painting.shades(walls, painting.PAPER, painting.STONE)),
        _goal(_cell(state.goal, rows)),
        figures.walker(_cell(state.pos, rows), 0.4),
    )


@painting.picture
def paint_meta_maze(state: MetaMazeState, params: MetaMazeParams, height: int, maze: MetaMaze) -> jax.Array:
    """The maze, the hidden goal, a frame around the walker's view, and below a lamp and the time.

    The lamp is green after a reward and red after a punishment.
    """
    walls = maze.walls
    side = len(walls)
    _, board = figures.board(side, side)
    foot = side / 11
    window = painting.Window.around(
        (-0.5, side + 0.5), (-1.5 * foot, side + 0.5), (side + 1) / (side + 0.5 + 1.5 * foot)
    )
    at = _cell(state.pos, side)
    lamp = figures.either(state.last_reward < 0, painting.RED, painting.SHADE)
    lamp = figures.either(state.last_reward > 0, painting.GREEN, lamp)
    sight = painting.box(at, (maze.rf_size - 0.14, maze.rf_size - 0.14), corner=0.13)
    return painting.paint(
        height,
        window,
        board,
        (figures.tiles(np.ones_like(walls)), painting.shades(walls, painting.PAPER, painting.STONE)),
        (painting.outline(sight, 0.14), painting.YELLOW),
        _goal(_cell(state.goal, side)),
        figures.walker(at, 0.4),
        (painting.circle((0.5 * foot, -0.75 * foot), 0.4 * foot), lamp),
        *figures.gauge(
            (1.5 * foot, -0.75 * foot), side - 1.8 * foot, state.time / params.max_steps_in_episode, width=0.3 * foot
        ),
    )


def _cell(place: jax.Array, rows: int) -> painting.Point:
    """The center of the cell in row `place[0]` and column `place[1]`."""
    return figures.cell(place[0], place[1], rows)


def _goal(at: painting.Point) -> figures.Layer:
    """A green tile, for mazes of many cells, where a flag would be too small."""
    return figures.tile(at), painting.GREEN
