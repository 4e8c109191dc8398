"""Anti-aliased pictures as pure JAX functions, for `jit`, `vmap` and `scan` on any device.

A shape is a signed distance: a function of points `(x, y)` that is negative inside, zero on the edge and positive
outside, in the units of the scene. A picture is a window onto the scene and a list of shapes and colours, painted
from back to front:

    window = draw.Window.around(x=(-1.0, 1.0), y=(-1.0, 1.0))
    pixels = draw.paint(height, window, (draw.circle((0.0, 0.0), 0.5), draw.RED))

Each pixel is computed by itself, without loops, so XLA paints a picture, or a batch of them, in one vectorised pass.
Only the height and the aspect ratio are static; every other number may be traced. `envcore.figures` has what several
suites draw alike: grids, carts, gauges.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from envcore import trees, trig
from envcore.errors import PictureError
from envcore.fusion import compute_once

Shape = Callable[[jax.Array, jax.Array], jax.Array]
"""Signed distance of points: from x and y, float32 and broadcastable to each other, to float32."""

Point = tuple[Any, Any]
"""Two float scalars, x to the right and y up."""

Colour = tuple[Any, Any, Any]
"""Red, green and blue, scalars from 0 to 255."""

Paint = Callable[[jax.Array, jax.Array], Colour]
"""A colour that depends on the place: from x and y as a shape gets them to levels that broadcast with them."""

# The palette that all suites share.
PAPER: Colour = (246, 244, 239)  # the background
SHADE: Colour = (226, 223, 214)  # guides and other things that stand behind
STONE: Colour = (160, 164, 171)  # fixed parts: rails, walls, posts
INK: Colour = (38, 45, 58)  # wheels, joints, outlines
BLUE: Colour = (49, 104, 178)
ORANGE: Colour = (233, 130, 52)
GREEN: Colour = (98, 158, 107)
RED: Colour = (208, 66, 61)
YELLOW: Colour = (244, 190, 66)


class Window(NamedTuple):
    """The part of the scene that a picture shows.

    Attributes:
      centre: its middle.
      height: from the lower edge to the upper one, float scalar > 0.
      aspect: width divided by height, a Python float.
    """

    centre: Point
    height: Any
    aspect: float

    @classmethod
    def around(cls, x: tuple[Any, Any], y: tuple[Any, Any], aspect: float = 1.0) -> Window:
        """The smallest window of an aspect ratio that shows `x[0] <= x <= x[1]` and `y[0] <= y <= y[1]`."""
        height = jnp.maximum(_scalar(y[1] - y[0]), _scalar((x[1] - x[0]) / aspect))
        return cls(((x[0] + x[1]) / 2, (y[0] + y[1]) / 2), height, aspect)


def picture(draw: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    """Decorates a function `draw(state, params, height, *options)` that paints an environment's state.

    It is compiled once for each height and options, which must be hashable, inlines under the caller's own `jit`, and
    sees every number as an array of at most 32 bits, whatever the caller passed.

    Raises (the function that it returns):
      PictureError: the state is a batch of states.
    """

    @functools.partial(jax.jit, static_argnums=(2, 3), inline=True)
    def compiled(state: Any, params: Any, height: int, options: tuple[Any, ...]) -> jax.Array:
        return draw(trees.narrow(state), trees.narrow(params), height, *options)

    @functools.wraps(draw)
    def checked(state: Any, params: Any, height: int, *options: Any) -> jax.Array:
        if batch := jnp.shape(state.time):
            raise PictureError(f"a picture shows one state, got numbers of shape {batch}: for a batch, use jax.vmap.")
        return compiled(state, params, height, options)

    return checked


def paint(height: int, window: Window, *layers: tuple[Shape, Colour | Paint], background: Colour = PAPER) -> jax.Array:
    """Paints shapes over each other, the first at the back.

    Args:
      height: of the picture in pixels; its width is `round(height * window.aspect)`.
      window: what of the scene to show.
      *layers: shapes and their colours. An edge blends over one pixel; where a distance is NaN, the shape is not.
      background: the colour behind them.

    Returns:
      uint8 (height, width, 3).

    Raises:
      PictureError: the height is no positive integer, or a number that must be a scalar is a whole batch of them.
    """
    size = _checked_height(height), max(1, round(height * window.aspect))
    x, y, pixel = _pixel_centres(size, window)
    sharpness = 1 / pixel
    planes = tuple(jnp.full(size, _scalar(level)) for level in background)
    for shape, colour in layers:
        inside = np.float32(0.5) - shape(x, y) * sharpness
        coverage = jnp.where(inside > 0, jnp.minimum(inside, 1), 0)
        levels = colour(x, y) if callable(colour) else map(_scalar, colour)
        planes = tuple(plane + coverage * (level - plane) for plane, level in zip(planes, levels, strict=True))
    # The words are stored before the bytes are taken out of them, or XLA would paint each pixel once for each byte.
    return compute_once(_bytes, _words(planes))


# Shapes.


def circle(centre: Point, radius: Any) -> Shape:
    """A disc."""
    return lambda x, y: _norm(x - _scalar(centre[0]), y - _scalar(centre[1])) - _scalar(radius)


def segment(start: Point, end: Point, radius: Any) -> Shape:
    """A straight line with round ends, `2 * radius` thick; `start` and `end` may coincide."""
    x0, y0, x1, y1 = map(_scalar, (*start, *end))
    dx, dy = x1 - x0, y1 - y0
    scale = 1 / jnp.maximum(dx * dx + dy * dy, np.float32(1e-12))

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        x, y = x - x0, y - y0
        along = jnp.clip(x * (dx * scale) + y * (dy * scale), 0, 1)
        return _norm(x - along * dx, y - along * dy) - _scalar(radius)

    return distance


def box(centre: Point, size: Point, corner: Any = 0.0) -> Shape:
    """A rectangle with sides along the axes and corners rounded with radius `corner`; `size` is width and height."""

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        radius = _scalar(corner)
        dx = jnp.abs(x - _scalar(centre[0])) - (_scalar(size[0]) / 2 - radius)
        dy = jnp.abs(y - _scalar(centre[1])) - (_scalar(size[1]) / 2 - radius)
        outside = _norm(jnp.maximum(dx, 0), jnp.maximum(dy, 0))
        return outside + jnp.minimum(jnp.maximum(dx, dy), 0) - radius

    return distance


def polygon(*vertices: Point) -> Shape:
    """A convex polygon, its vertices counter-clockwise.

    Outside, where a vertex is nearest, the distance is that to the nearest of the two edges' lines: corners are
    sharp.
    """
    corners = [(_scalar(x), _scalar(y)) for x, y in vertices]
    edges = list(zip(corners, corners[1:] + corners[:1], strict=True))

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        return functools.reduce(jnp.maximum, [_right_of(start, end, x, y) for start, end in edges])

    return distance


def below(level: Any) -> Shape:
    """Everything below `y = level`."""
    return lambda _, y: y - _scalar(level)


def under(curve: Callable[[jax.Array], jax.Array]) -> Shape:
    """Everything below `y = curve(x)`.

    The distance is that to the curve's tangent at the same x: right near the curve, where it matters.
    """

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        level, slope = jax.jvp(curve, (x,), (jnp.ones_like(x),))
        return (y - level) * lax.rsqrt(1 + slope * slope)

    return distance


def arc(centre: Point, radius: Any, start: Any, sweep: Any, width: Any) -> Shape:
    """A part of a circle's line with round ends, `width` thick.

    It begins at the angle `start`, counter-clockwise from the x axis, and goes on for `sweep`, which may be
    negative; at most one turn, in radians.
    """
    half = jnp.abs(_scalar(sweep)) / 2
    end = _scalar(radius) * trig.cos(half), _scalar(radius) * trig.sin(half)

    def from_middle(x: jax.Array, y: jax.Array) -> jax.Array:
        y = jnp.abs(y)
        is_beside = y * trig.cos(half) <= x * trig.sin(half)  # of the line from the centre through the end
        to_circle = jnp.abs(_norm(x, y) - _scalar(radius))
        return jnp.where(is_beside, to_circle, _norm(x - end[0], y - end[1])) - _scalar(width) / 2

    return placed(from_middle, centre, _scalar(start) + _scalar(sweep) / 2)


# What can be made of shapes.


def union(*shapes: Shape) -> Shape:
    """All of the shapes in one, for one colour."""
    return lambda x, y: functools.reduce(jnp.minimum, [shape(x, y) for shape in shapes])


def placed(shape: Shape, origin: Point, angle: Any) -> Shape:
    """The shape turned counter-clockwise by `angle` in radians about (0, 0), which then moves to `origin`."""
    sine, cosine = trig.sin(_scalar(angle)), trig.cos(_scalar(angle))

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        x, y = x - _scalar(origin[0]), y - _scalar(origin[1])
        return shape(x * cosine + y * sine, y * cosine - x * sine)

    return distance


def scaled(shape: Shape, origin: Point, scale: Any) -> Shape:
    """The shape enlarged by a factor `scale` > 0 about (0, 0), which then moves to `origin`."""
    x0, y0, scale = map(_scalar, (*origin, scale))
    return lambda x, y: scale * shape((x - x0) / scale, (y - y0) / scale)


def outline(shape: Shape, width: Any) -> Shape:
    """A line along the shape's edge, `width` thick, half of it inside."""
    return lambda x, y: jnp.abs(shape(x, y)) - _scalar(width) / 2


def shown(shape: Shape, condition: Any) -> Shape:
    """The shape where `condition`, a bool scalar, holds, else nothing."""
    return lambda x, y: jnp.where(condition, shape(x, y), np.float32(np.inf))


def repeated(shape: Shape, where: Any) -> Shape:
    """A copy of the shape, drawn about (0, 0), in every cell of a grid where `where`, bool (rows, columns), holds.

    Cells are unit squares and row 0 is the uppermost: the middle of `where[row, column]` is at
    `(column + 0.5, rows - row - 0.5)`. A copy ends where its cell ends.
    """

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        copy = shape(x - jnp.floor(x) - np.float32(0.5), y - jnp.floor(y) - np.float32(0.5))
        return jnp.where(_in_cell(jnp.asarray(where, jnp.bool_), x, y, outside=False), copy, np.float32(np.inf))

    return distance


def shades(values: Any, low: Colour = PAPER, high: Colour = INK) -> Paint:
    """The paint of a grid's cells, `low` where `values`, float (rows, columns), is 0 and `high` where it is 1."""

    def levels(x: jax.Array, y: jax.Array) -> Colour:
        share = _in_cell(jnp.asarray(values, jnp.float32), x, y, outside=0)
        red, green, blue = (_scalar(a) + share * (_scalar(b) - _scalar(a)) for a, b in zip(low, high, strict=True))
        return red, green, blue

    return levels


# Helpers.


def _in_cell(values: jax.Array, x: jax.Array, y: jax.Array, outside: Any) -> jax.Array:
    """The value of the cell that each point lies in."""
    rows, columns = values.shape
    row, column = rows - 1 - jnp.floor(y).astype(jnp.int32), jnp.floor(x).astype(jnp.int32)
    is_inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
    return jnp.where(is_inside, values[jnp.clip(row, 0, rows - 1), jnp.clip(column, 0, columns - 1)], outside)


def _checked_height(height: Any) -> int:
    try:
        pixels = operator.index(height)
    except TypeError:
        pixels = 0
    if pixels < 1:
        raise PictureError(f"the height of a picture must be an integer of at least 1 pixel, got {height!r}.")
    return pixels


def _pixel_centres(size: tuple[int, int], window: Window) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Returns x as (1, width), y as (height, 1), and the side of a pixel, in units of the scene."""
    height, width = size
    pixel = _scalar(window.height) / height
    column = np.arange(width, dtype=np.float32)[None, :] - np.float32(width / 2 - 0.5)
    row = np.arange(height, dtype=np.float32)[:, None] - np.float32(height / 2 - 0.5)
    return _scalar(window.centre[0]) + column * pixel, _scalar(window.centre[1]) - row * pixel, pixel


def _words(planes: tuple[jax.Array, ...]) -> jax.Array:
    """Packs red, green and blue in [0, 255], each float32 (height, width), into uint32 (height, width)."""
    red, green, blue = ((plane + np.float32(0.5)).astype(jnp.int32) for plane in planes)
    return (red | (green << 8) | (blue << 16)).astype(jnp.uint32)


def _bytes(words: jax.Array) -> jax.Array:
    """Unpacks them to uint8 (height, width, 3)."""
    return lax.bitcast_convert_type(words, jnp.uint8)[..., :3]


def _right_of(start: tuple[jax.Array, jax.Array], end: tuple[jax.Array, jax.Array], x: Any, y: Any) -> jax.Array:
    """Signed distance of points from the line through `start` and `end`, positive on its right."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    scale = lax.rsqrt(dx * dx + dy * dy)
    return (x - start[0]) * (dy * scale) - (y - start[1]) * (dx * scale)


def _norm(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.sqrt(x * x + y * y)


def _scalar(value: Any) -> jax.Array:
    value = jnp.asarray(value, jnp.float32)
    if value.shape:
        raise PictureError(f"a picture shows one state, got numbers of shape {value.shape}: for a batch, use jax.vmap.")
    return value
