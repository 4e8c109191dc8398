"""Shapes as signed distances, and operations on shapes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike

from envcore import trig
from envcore.errors import InvalidArgumentError

Shape: TypeAlias = Callable[[jax.Array, jax.Array], jax.Array]
"""A function from points to their signed distances: x and y, float32 and broadcastable to each other, to float32."""

Number: TypeAlias = jax.Array | np.ndarray | np.number | float
"""A float scalar, Python's or an array."""

Point: TypeAlias = tuple[Number, Number]
"""Two float scalars, x to the right and y up."""


# Shapes.


def circle(center: Point, radius: Number) -> Shape:
    """A disc."""
    return lambda x, y: _norm(x - scalar(center[0]), y - scalar(center[1])) - scalar(radius)


def segment(start: Point, end: Point, radius: Number) -> Shape:
    """A straight line with round ends, `2 * radius` thick; `start` and `end` may coincide."""
    x0, y0, x1, y1 = map(scalar, (*start, *end))
    dx, dy = x1 - x0, y1 - y0
    scale = 1 / jnp.maximum(dx * dx + dy * dy, np.float32(1e-12))

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        x, y = x - x0, y - y0
        along = jnp.clip(x * (dx * scale) + y * (dy * scale), 0, 1)
        return _norm(x - along * dx, y - along * dy) - scalar(radius)

    return distance


def box(center: Point, size: Point, corner: Number = 0.0) -> Shape:
    """An axis-aligned rectangle with corners of radius `corner`; `size` is its width and height."""

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        radius = scalar(corner)
        dx = jnp.abs(x - scalar(center[0])) - (scalar(size[0]) / 2 - radius)
        dy = jnp.abs(y - scalar(center[1])) - (scalar(size[1]) / 2 - radius)
        outside = _norm(jnp.maximum(dx, 0), jnp.maximum(dy, 0))
        return outside + jnp.minimum(jnp.maximum(dx, dy), 0) - radius

    return distance


def polygon(*vertices: Point) -> Shape:
    """A convex polygon, its vertices counter-clockwise.

    Outside, near a vertex, the distance is the larger of the distances to the lines through its two edges, so corners
    stay sharp.
    """
    corners = [(scalar(x), scalar(y)) for x, y in vertices]
    edges: list[tuple[jax.Array, ...]] = []
    for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1], strict=True):
        dx, dy = x1 - x0, y1 - y0
        scale = lax.rsqrt(dx * dx + dy * dy)
        edges.append((x0, y0, dx * scale, dy * scale))

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        right_of_edges = [(x - x0) * dy - (y - y0) * dx for x0, y0, dx, dy in edges]
        return functools.reduce(jnp.maximum, right_of_edges)

    return distance


def half_plane(level: Number) -> Shape:
    """Everything below `y = level`."""
    return lambda _, y: y - scalar(level)


def under(curve: Callable[[jax.Array], jax.Array]) -> Shape:
    """Everything below `y = curve(x)`.

    The distance is measured to the curve's tangent at the same x, which is accurate near the curve, where it matters.
    """

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        level, slope = jax.jvp(curve, (x,), (jnp.ones_like(x),))
        return (y - level) * lax.rsqrt(1 + slope * slope)

    return distance


def arc(center: Point, radius: Number, start: Number, sweep: Number, width: Number) -> Shape:
    """A circular arc with round ends, `width` thick.

    It begins at the angle `start`, counter-clockwise from the x axis, and extends over `sweep`, which may be negative
    and is at most one turn; both in radians.
    """
    half = jnp.abs(scalar(sweep)) / 2
    end = scalar(radius) * trig.cos(half), scalar(radius) * trig.sin(half)

    def from_middle(x: jax.Array, y: jax.Array) -> jax.Array:
        y = jnp.abs(y)
        is_beside = y * trig.cos(half) <= x * trig.sin(half)  # beside the line from the center through the end
        to_circle = jnp.abs(_norm(x, y) - scalar(radius))
        return jnp.where(is_beside, to_circle, _norm(x - end[0], y - end[1])) - scalar(width) / 2

    return placed(from_middle, center, scalar(start) + scalar(sweep) / 2)


# Operations on shapes.


def union(*shapes: Shape) -> Shape:
    """All of the shapes as one, to share a color."""
    return lambda x, y: functools.reduce(jnp.minimum, [shape(x, y) for shape in shapes])


def placed(shape: Shape, origin: Point, angle: Number) -> Shape:
    """The shape rotated counter-clockwise by `angle` radians about (0, 0), then moved by `origin`."""
    sine, cosine = trig.sin(scalar(angle)), trig.cos(scalar(angle))

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        x, y = x - scalar(origin[0]), y - scalar(origin[1])
        return shape(x * cosine + y * sine, y * cosine - x * sine)

    return distance


def scaled(shape: Shape, origin: Point, scale: Number) -> Shape:
    """The shape scaled by a factor `scale` > 0 about (0, 0), then moved by `origin`."""
    x0, y0, scale = map(scalar, (*origin, scale))
    return lambda x, y: scale * shape((x - x0) / scale, (y - y0) / scale)


def outline(shape: Shape, width: Number) -> Shape:
    """A line along the shape's edge, `width` thick, half of it inside."""
    return lambda x, y: jnp.abs(shape(x, y)) - scalar(width) / 2


def shown(shape: Shape, condition: ArrayLike) -> Shape:
    """The shape if `condition`, a bool scalar, is true, else nothing."""
    return lambda x, y: jnp.where(condition, shape(x, y), np.float32(np.inf))


def repeated(shape: Shape, where: ArrayLike) -> Shape:
    """Copies of a shape in the cells of a grid where `where`, bool (rows, columns), is true.

    The shape is centered on (0, 0). Cells are unit squares and row 0 is at the top: the center of
    `where[row, column]` is `(column + 0.5, rows - row - 0.5)`. Copies are clipped to their cells.
    """

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        copy = shape(x - jnp.floor(x) - np.float32(0.5), y - jnp.floor(y) - np.float32(0.5))
        return jnp.where(in_cell(jnp.asarray(where, jnp.bool_), x, y, outside=False), copy, np.float32(np.inf))

    return distance


# Helpers.


def in_cell(values: jax.Array, x: jax.Array, y: jax.Array, outside: Number) -> jax.Array:
    """The value of the cell that each point lies in."""
    rows, columns = values.shape
    row, column = rows - 1 - jnp.floor(y).astype(jnp.int32), jnp.floor(x).astype(jnp.int32)
    is_inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
    return jnp.where(is_inside, values[jnp.clip(row, 0, rows - 1), jnp.clip(column, 0, columns - 1)], outside)


def scalar(value: Number) -> jax.Array:
    value = jnp.asarray(value, jnp.float32)
    if value.shape:
        raise InvalidArgumentError(
            f"a picture shows one state, got numbers of shape {value.shape}; for a batch, use jax.vmap."
        )
    return value


def _norm(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.sqrt(x * x + y * y)
