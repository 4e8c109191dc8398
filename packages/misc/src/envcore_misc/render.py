"""Pictures of the suite's environments: uint8 (height, width, 3)."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import jax
from envcore import draw

if TYPE_CHECKING:
    from envcore_misc.frozen_lake import FrozenLakeState

_ICE: draw.Colour = (205, 226, 240)


@functools.partial(jax.jit, static_argnums=(1, 2), inline=True)
def draw_frozen_lake(state: FrozenLakeState, lake: tuple[str, ...], height: int) -> jax.Array:
    """The ice with its holes, a flag on each goal, and the walker."""
    rows, columns = len(lake), len(lake[0])
    window = draw.Window.around(x=(-0.2, columns + 0.2), y=(-0.2, rows + 0.2), aspect=(columns + 0.4) / (rows + 0.4))
    tiles = {
        (column + 0.5, rows - 0.5 - row): kind for row, line in enumerate(lake) for column, kind in enumerate(line)
    }

    def all_of(kind: str, shape: draw.Shape) -> draw.Shape:
        return draw.union(*(draw.placed(shape, at, 0.0) for at, found in tiles.items() if found == kind))

    ice = draw.union(*(draw.box(at, (0.94, 0.94), corner=0.08) for at in tiles))
    flag = draw.union(draw.box((-0.12, 0.0), (0.06, 0.7)), draw.polygon((-0.12, 0.05), (0.28, 0.2), (-0.12, 0.35)))
    column, row = state.position % columns, state.position // columns
    kinds = set(tiles.values())
    return draw.paint(
        height,
        window,
        (ice, _ICE),
        *([(all_of("H", draw.circle((0.0, 0.0), 0.36)), draw.INK)] if "H" in kinds else []),
        *([(all_of("G", flag), draw.GREEN)] if "G" in kinds else []),
        (draw.circle((column + 0.5, rows - 0.5 - row), 0.24), draw.ORANGE),
    )
