"""Pictures of XLand-MiniGrid's grids: every thing in its own color, the agent an orange arrow, its view in a frame."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting
from envcore.painting import figures

from envcore_bridges.base import default_numerics

# Kinds and colors as XLand-MiniGrid numbers them.
_FLOOR, _WALL, _BALL, _SQUARE, _PYRAMID, _GOAL, _KEY, _LOCKED, _CLOSED, _OPEN, _HEX, _STAR = range(1, 13)

_COLORS = np.array(
    [
        painting.PAPER,  # none
        painting.RED,
        painting.GREEN,
        painting.BLUE,
        (126, 78, 176),  # purple
        painting.YELLOW,
        painting.STONE,  # grey
        painting.INK,  # black
        (240, 150, 40),  # orange
        (255, 255, 255),
        (142, 92, 60),  # brown
        (232, 120, 172),  # pink
    ],
    np.float32,
)
_CENTER = (0.0, 0.0)


@painting.picture
def paint_grid(height: int, grid: jax.Array, agent: Any, *, view_size: int) -> jax.Array:
    """The grid, int (rows, columns, 2), kind and color, the agent with what it carries, and a frame around its view."""
    with default_numerics():
        kinds, colors = grid[..., 0], grid[..., 1]
        rows, columns = kinds.shape
        window, board = figures.board(rows, columns)
        color = _by_cell(jnp.asarray(_COLORS)[colors])
        things = painting.union(*(painting.repeated(shape, kinds == kind) for kind, shape in _things().items()))
        doors = (kinds == _LOCKED) | (kinds == _CLOSED)
        at = figures.cell(agent.position[0], agent.position[1], rows)
        return painting.paint(
            height,
            window,
            board,
            (figures.tiles((kinds != 0) & (kinds != _WALL)), painting.PAPER),
            (figures.tiles((kinds == _WALL) | (kinds == _GOAL) | doors), color),
            (things, color),
            (painting.outline(things, 0.05), painting.INK),
            (painting.repeated(painting.outline(painting.box(_CENTER, (0.7, 0.7), 0.05), 0.06), doors), painting.INK),
            (painting.repeated(painting.circle((0.2, 0.0), 0.07), kinds == _CLOSED), painting.INK),
            (painting.repeated(_keyhole(), kinds == _LOCKED), painting.INK),
            (painting.outline(_view(at, agent.direction, view_size), 0.1), painting.YELLOW),
            *_walker(at, agent),
        )


def _things() -> dict[int, painting.Shape]:
    """What lies in a cell, by kind, around (0, 0)."""
    triangle = painting.polygon((-0.36, -0.27), (0.36, -0.27), (0.0, 0.36))
    upside_down = painting.polygon((0.0, -0.42), (0.36, 0.2), (-0.36, 0.2))
    corners = [(0.36 * np.cos(angle), 0.36 * np.sin(angle)) for angle in np.arange(6) * np.pi / 3]
    ring = painting.outline(painting.circle((0.0, 0.2), 0.13), 0.1)
    teeth = painting.union(painting.box((0.07, -0.18), (0.16, 0.07)), painting.box((0.07, -0.34), (0.16, 0.07)))
    return {
        _BALL: painting.circle(_CENTER, 0.32),
        _SQUARE: painting.box(_CENTER, (0.54, 0.54)),
        _PYRAMID: triangle,
        _HEX: painting.polygon(*corners),
        _STAR: painting.union(painting.polygon((-0.36, -0.2), (0.36, -0.2), (0.0, 0.42)), upside_down),
        _KEY: painting.union(ring, painting.box((0.0, -0.14), (0.1, 0.5)), teeth),
        _OPEN: painting.box((0.4, 0.0), (0.14, 0.9)),
    }


def _keyhole() -> painting.Shape:
    return painting.union(painting.circle((0.0, 0.06), 0.1), painting.box((0.0, -0.1), (0.08, 0.22)))


def _view(at: painting.Point, direction: Any, size: int) -> painting.Shape:
    """The square of cells that the agent sees: it stands in the middle of the nearest row."""
    ahead = (size - 1) / 2
    across, up = (jnp.array(steps, jnp.float32)[direction] for steps in ((0, 1, 0, -1), (1, 0, -1, 0)))
    return painting.box((at[0] + ahead * across, at[1] + ahead * up), (size - 0.1, size - 0.1), corner=0.1)


def _walker(at: painting.Point, agent: Any) -> list[figures.Layer]:
    """An arrow, and a dot in the color of what the agent carries."""
    turn = -0.5 * np.float32(np.pi) * agent.direction.astype(jnp.float32)
    arrow = painting.placed(painting.polygon((-0.3, -0.34), (0.3, -0.34), (0.0, 0.4)), at, turn)
    carried = jnp.asarray(_COLORS)[agent.pocket[1]]
    dot = painting.shown(painting.circle(at, 0.11), agent.pocket[0] != 0)
    return [
        (arrow, painting.ORANGE),
        (painting.outline(arrow, 0.06), painting.INK),
        (dot, (carried[0], carried[1], carried[2])),
        (painting.outline(dot, 0.04), painting.INK),
    ]


def _by_cell(colors: jax.Array) -> painting.Paint:
    """Paints every cell in its color, float32 (rows, columns, 3)."""
    planes = [painting.shades(colors[..., i] / 255, (0, 0, 0), (255, 255, 255)) for i in range(3)]

    def levels(x: jax.Array, y: jax.Array) -> painting.Color:
        red, green, blue = (plane(x, y)[0] for plane in planes)
        return red, green, blue

    return levels
