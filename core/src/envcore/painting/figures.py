"""Figures that several suites share, each as layers for `painting.paint(height, window, *figure)`.

All pictures share a style. The agent is blue if it is a machine, and orange if it walks on a grid or is on a dark
screen. Goals and other good things are green, dangers red, walls and other fixed parts gray, boards and guides pale.
The agent has a contrast of at least 3 with its surroundings.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from envcore import painting, trig
from envcore.painting import Number

Layer = tuple[painting.Shape, painting.Color | painting.Paint]


def cart_and_pole(x: Number, theta: Number, length: Number, rail_end: Number) -> list[Layer]:
    """A cart at `x` on a rail from `-rail_end` to `rail_end`, with a pole `theta` rad clockwise from upright."""
    hinge = (x, 0.2)
    tip = (x + length * trig.sin(theta), 0.2 + length * trig.cos(theta))
    stops = [painting.box((end, -0.1), (0.08, 0.3), corner=0.03) for end in (-rail_end - 0.37, rail_end + 0.37)]
    wheels = [painting.circle((x + side, -0.1), 0.09) for side in (-0.17, 0.17)]
    return [
        (painting.union(painting.box((0.0, -0.22), (2 * rail_end + 0.92, 0.06), corner=0.03), *stops), painting.STONE),
        (painting.union(*wheels), painting.INK),
        (painting.box((x, 0.08), (0.64, 0.3), corner=0.06), painting.BLUE),
        (painting.segment(hinge, tip, 0.065), painting.ORANGE),
        (painting.circle(hinge, 0.035), painting.INK),
    ]


def car_on_hill(position: Number, goal: Number, low: Number, high: Number) -> tuple[painting.Window, list[Layer]]:
    """Mountain car's hill, with a wall at its left end `low`, the car at `position`, and a flag at `goal`.

    The window extends a little beyond `low` and `high`. Its width is 3/2 of its height.
    """
    window = painting.Window.around(x=(low - 0.2, high + 0.15), y=(-0.05, 1.35), aspect=1.5)
    wall = painting.box((low - 0.14, hill(low) + 0.1), (0.05, 0.5), corner=0.02)
    foot = (goal, hill(goal))
    x, top = foot[0], foot[1] + 0.28
    flag = painting.polygon((x, top), (x, top - 0.12), (x + 0.15, top - 0.06))
    bodywork = painting.union(
        painting.box((0.0, 0.075), (0.25, 0.065), corner=0.025),
        painting.box((-0.015, 0.115), (0.13, 0.08), corner=0.03),
    )
    wheels = painting.union(painting.circle((-0.075, 0.037), 0.037), painting.circle((0.075, 0.037), 0.037))
    place = (position, hill(position))
    slope = jnp.arctan(3 * 0.45 * trig.cos(3 * position))
    return window, [
        (wall, painting.STONE),
        (painting.segment(foot, (x, top), 0.012), painting.INK),
        (flag, painting.RED),
        (painting.under(hill), painting.GREEN),
        (painting.placed(bodywork, place, slope), painting.BLUE),
        (painting.placed(wheels, place, slope), painting.INK),
    ]


def hill(position: Number) -> jax.Array:
    """Height of mountain car's hill."""
    return 0.55 + 0.45 * trig.sin(3 * position)


def board(rows: int, columns: int) -> tuple[painting.Window, Layer]:
    """A pale board of unit cells, and a window around it. The center of a cell is `cell(row, column, rows)`."""
    window = painting.Window.around(x=(-0.5, columns + 0.5), y=(-0.5, rows + 0.5), aspect=(columns + 1) / (rows + 1))
    return window, (painting.box((columns / 2, rows / 2), (columns + 0.2, rows + 0.2), corner=0.15), painting.SHADE)


def cell(row: Number, column: Number, rows: int) -> painting.Point:
    """The center of a cell of a grid whose row 0 is at the top."""
    return jnp.asarray(column, jnp.float32) + 0.5, rows - 0.5 - jnp.asarray(row, jnp.float32)


def tiles(where: ArrayLike) -> painting.Shape:
    """A tile in every cell of a grid where `where`, bool (rows, columns), is true."""
    return painting.repeated(tile((0.0, 0.0)), where)


def tile(at: painting.Point) -> painting.Shape:
    """One tile, nearly as large as its cell."""
    return painting.box(at, (0.94, 0.94), corner=0.08)


def walker(at: painting.Point, radius: Number = 0.3) -> Layer:
    """The agent on a grid: a person with a round head, `radius` to each side."""
    body = painting.segment((-0.35, -0.45), (0.35, -0.45), 0.55)
    return painting.scaled(painting.union(painting.circle((0.0, 0.5), 0.5), body), at, radius), painting.ORANGE


def gauge(
    left: painting.Point,
    length: Number,
    share: Number,
    color: painting.Color = painting.INK,
    width: Number = 0.12,
) -> list[Layer]:
    """A bar to the right of `left`, filled to `share` of its length. Shows time, regret and the like.

    Shares are clipped to [0, 1].
    """
    radius = width / 2
    share = jnp.clip(share, 0.0, 1.0)
    track = painting.segment(left, (left[0] + length, left[1]), radius)
    fill = painting.segment(left, (left[0] + length * share, left[1]), radius)
    return [(track, painting.SHADE), (painting.shown(fill, share > 0), color)]


def bars(values: ArrayLike, width: float = 0.7) -> painting.Shape:
    """Bars from y = 0 up or down to `values`, float32 (n,). The bar of `values[i]` is centered on x = i + 0.5."""
    values = jnp.asarray(values, jnp.float32)

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        column = _column(x, len(values))
        value = values[column]
        across = jnp.abs(x - column.astype(jnp.float32) - np.float32(0.5)) - np.float32(width / 2)
        along = jnp.abs(y - value / 2) - jnp.abs(value) / 2
        return jnp.maximum(across, along)

    return distance


def either(condition: ArrayLike, on_true: painting.Color, on_false: painting.Color) -> painting.Color:
    """Selects a color by `condition`, a bool scalar. Inside a paint, `condition` can be bools that broadcast."""
    red, green, blue = (
        jnp.where(condition, jnp.asarray(a, jnp.float32), jnp.asarray(b, jnp.float32))
        for a, b in zip(on_true, on_false, strict=True)
    )
    return red, green, blue


def by_column(condition: ArrayLike, on_true: painting.Color, on_false: painting.Color) -> painting.Paint:
    """A paint for columns one unit apart, such as `bars`, that selects each color by `condition`, bool (n,)."""
    condition = jnp.asarray(condition, jnp.bool_)

    def levels(x: jax.Array, y: jax.Array) -> painting.Color:
        del y
        return either(condition[_column(x, len(condition))], on_true, on_false)

    return levels


def _column(x: jax.Array, count: int) -> jax.Array:
    """Returns the index of the nearest of `count` columns, int32."""
    return jnp.clip(jnp.floor(x).astype(jnp.int32), 0, count - 1)
