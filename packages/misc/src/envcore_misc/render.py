"""Pictures of the suite's environments: uint8 (height, width, 3)."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import jax
import numpy as np
from envcore import draw, figures

if TYPE_CHECKING:
    from envcore_misc.frozen_lake import FrozenLakeState

_ICE: draw.Colour = (205, 226, 240)


@functools.partial(jax.jit, static_argnums=(1, 2), inline=True)
def draw_frozen_lake(state: FrozenLakeState, lake: tuple[str, ...], height: int) -> jax.Array:
    """The ice with its holes, a flag on each goal, and the walker."""
    tiles = np.array([list(line) for line in lake])
    rows, columns = tiles.shape
    window, _ = figures.board(rows, columns)
    flag, green = figures.flag((0.0, 0.0))
    at = figures.cell(state.position // columns, state.position % columns, rows)
    return draw.paint(
        height,
        window,
        (draw.repeated(draw.box((0.0, 0.0), (0.94, 0.94), corner=0.08), np.ones_like(tiles, np.bool_)), _ICE),
        (draw.repeated(draw.circle((0.0, 0.0), 0.36), tiles == "H"), draw.INK),
        (draw.repeated(flag, tiles == "G"), green),
        figures.walker(at),
    )
