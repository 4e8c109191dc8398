"""Pictures of the suite's environments."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from envcore import draw


@functools.partial(jax.jit, static_argnums=(0, 1, 4))
def draw_windy_gridworld(wind: tuple[int, ...], rows: int, position: Any, goal: Any, height: int) -> jax.Array:
    """The cells, darker where the wind is stronger, the goal and the agent: uint8 (height, width, 3)."""
    columns = len(wind)
    window = draw.Window.around(x=(0.0, columns), y=(-rows, 0.0), aspect=columns / rows)
    return draw.paint(
        height,
        window,
        *[(_column(index, rows), _shade(strength)) for index, strength in enumerate(wind)],
        (_edges_of_cells, draw.PAPER),
        (draw.box(_centre(goal), (0.8, 0.8), corner=0.1), draw.GREEN),
        (draw.circle(_centre(position), 0.3), draw.BLUE),
    )


def _column(index: int, rows: int) -> draw.Shape:
    return draw.box((index + 0.5, -rows / 2), (1.0, rows))


def _shade(strength: int) -> draw.Colour:
    share = min(abs(strength), 3) / 3
    red, green, blue = (calm + share * (storm - calm) for calm, storm in zip(draw.SHADE, draw.STONE, strict=True))
    return red, green, blue


def _edges_of_cells(x: jax.Array, y: jax.Array) -> jax.Array:
    """Any function of x and y that is negative inside a shape is one."""
    return jnp.minimum(jnp.abs(x - jnp.round(x)), jnp.abs(y - jnp.round(y))) - 0.03


def _centre(position: Any) -> draw.Point:
    """Middle of the cell in row `position[0]` and column `position[1]`; rows count downwards."""
    row, column = jnp.asarray(position).astype(jnp.float32)
    return column + 0.5, -row - 0.5
