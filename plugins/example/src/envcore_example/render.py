"""Pictures of the suite's environments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import numpy as np
from envcore import painting
from envcore.painting import figures

if TYPE_CHECKING:
    from envcore_example.windy_gridworld import WindyGridworldParams, WindyGridworldState

_STORM = 3  # the strength of the darkest wind


@painting.picture
def paint_windy_gridworld(
    state: WindyGridworldState, params: WindyGridworldParams, height: int, wind: tuple[int, ...], rows: int
) -> jax.Array:
    """The cells, darker where the wind is stronger, the goal and the agent: uint8 (height, width, 3)."""
    window, _ = figures.board(rows, len(wind))
    strength = np.broadcast_to(np.clip(np.abs(wind), 0, _STORM) / _STORM, (rows, len(wind)))
    tiles = figures.tiles(np.ones(strength.shape, np.bool_))
    goal = figures.tile(figures.cell(params.goal[0], params.goal[1], rows))
    return painting.paint(
        height,
        window,
        (tiles, painting.shades(strength, painting.SHADE, painting.STONE)),
        (goal, painting.GREEN),
        figures.walker(figures.cell(state.position[0], state.position[1], rows)),
    )
