"""Which cells of a game's picture have a color."""

from __future__ import annotations

from typing import Any

import numpy as np
from envcore import painting
from minatar_states import replaced
from picture_checks import blank, near

CELL = 24  # pixels


def state_of(env: Any, **fields: Any) -> Any:
    """A state with some fields set, the others 0."""
    state = blank(env)
    return replaced(state, {name: np.asarray(value, getattr(state, name).dtype) for name, value in fields.items()})


def cells_with(env: Any, color: painting.Color, least: int = 12, **fields: Any) -> list[list[int]]:
    """Row and column of the cells with at least so many pixels of a color; for games without a margin."""
    picture = env.render(state_of(env, **fields), env.default_params, height=10 * CELL)
    counts = near(picture, color).reshape(10, CELL, 10, CELL).sum((1, 3))
    return np.argwhere(counts >= least).tolist()
