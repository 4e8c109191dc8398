"""Pictures of the suite's environments.

Painters take numbers instead of states, so that environments can import this module without an import cycle.
"""

from __future__ import annotations

import jax
import numpy as np
from envcore import painting
from envcore.painting import figures
from envcore.typing import ArrayParam

_STORM = 3  # wind of the darkest column


@painting.picture
def paint_windy_gridworld(
    height: int, position: jax.Array, goal: ArrayParam, *, wind: tuple[int, ...], rows: int
) -> jax.Array:
    """Paints the cells, darker for stronger wind, the goal and the agent: uint8 (height, width, 3).

    Args:
      height: height of the picture.
      position, goal: row and column, int32 (2,).
      wind: wind of each column.
      rows: number of rows of the grid.
    """
    window, _ = figures.board(rows, len(wind))
    strength = np.broadcast_to(np.clip(np.abs(wind), 0, _STORM) / _STORM, (rows, len(wind)))
    tiles = figures.tiles(np.ones(strength.shape, np.bool_))
    return painting.paint(
        height,
        window,
        (tiles, painting.shades(strength, painting.SHADE, painting.STONE)),
        (figures.tile(figures.cell(goal[0], goal[1], rows)), painting.GREEN),
        figures.walker(figures.cell(position[0], position[1], rows)),
    )
