"""Which cells of a game's picture have a color."""

from __future__ import annotations

from typing import Any

import numpy as np
from envcore import painting
from picture_checks import near, state_of

CELL = 24  # pixels


def cells_with(env: Any, color: painting.Color, least: int = 12, **fields: Any) -> list[list[int]]:
    """Row and column of the cells with at least so many pixels of a color; for games without a margin."""
    picture = env.render(state_of(env, **fields), env.default_params, height=10 * CELL)
    counts = near(picture, color).reshape(10, CELL, 10, CELL).sum((1, 3))
    return np.argwhere(counts >= least).tolist()
