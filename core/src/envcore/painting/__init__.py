"""Draws anti-aliased pictures in pure JAX, under `jit`, `vmap` and `scan` on any device.

A shape is a signed distance function: for points `(x, y)` in scene units, it is negative inside the shape, zero on the
edge and positive outside. A picture is a window on the scene and a list of shapes with colors, painted from back to
front:

    window = painting.Window.around(x=(-1.0, 1.0), y=(-1.0, 1.0))
    pixels = painting.paint(height, window, (painting.circle((0.0, 0.0), 0.5), painting.RED))

Each pixel is computed independently, without loops, so XLA paints a picture or a batch in one vectorized pass. Only the
height and the aspect ratio are static. All other numbers can be traced. `envcore.painting.figures` has figures that
several suites share, such as grids, carts and gauges.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable
from typing import NamedTuple, ParamSpec, TypeAlias, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike

from envcore import trees, trig
from envcore.checks import positive_integer
from envcore.errors import InvalidArgumentError
from envcore.fusion import compute_once
from envcore.typing import PyTree

Shape: TypeAlias = Callable[[jax.Array, jax.Array], jax.Array]
"""A signed distance function: x and y, float32 and broadcastable to each other, to float32."""

Number: TypeAlias = jax.Array | np.ndarray | np.number | float
"""A float scalar, Python or array."""

Point: TypeAlias = tuple[Number, Number]
"""Two float scalars: x to the right and y up."""

Color: TypeAlias = tuple[Number, Number, Number]
"""Red, green and blue as scalars from 0 to 255."""

PAPER = (246, 244, 239)  # the background
SHADE = (226, 223, 214)  # guides and other things in the background
STONE = (160, 164, 171)  # fixed parts: rails, walls, posts
INK = (38, 45, 58)  # wheels, joints, outlines
BLUE = (49, 104, 178)
ORANGE = (203, 91, 24)  # dark enough for a contrast of 3 with pale boards, and light enough for one with INK
GREEN = (98, 158, 107)
RED = (208, 66, 61)
YELLOW = (244, 190, 66)

Paint: TypeAlias = Callable[[jax.Array, jax.Array], Color]
"""A color that depends on the position: a function of x and y to red, green and blue, which broadcast with them."""

_GLYPHS = (
    "A25755 B65656 C34443 D65556 E74647 F74644 G34553 H55755 I72227 J11152 K55655 L44447 M57755 N65555 O25552 "
    "P65644 Q25563 R65655 S34216 T72222 U55557 V55552 W55775 X55255 Y55222 Z71247 075557 126227 261247 361216 "
    "455711 574616 634757 771122 875757 975716 ?61202 -00700"
)
"""A character, and an octal digit for each of its 5 rows of 3 pixels from the top."""

_FONT = {" ": "00000"} | {glyph[0]: glyph[1:] for glyph in _GLYPHS.split()}

P = ParamSpec("P")


# Pictures.


class Window(NamedTuple):
    """The part of the scene that a picture shows.

    Attributes:
      center: the center point.
      height: height in scene units, float scalar > 0.
      aspect: width divided by height, a Python float.
    """

    center: Point
    height: Number
    aspect: float

    @classmethod
    def around(cls, x: Point, y: Point, aspect: float = 1.0) -> Window:
        """Returns the smallest window with this aspect ratio that contains the intervals `x` and `y`, (low, high)."""
        height = jnp.maximum(_scalar(y[1] - y[0]), _scalar((x[1] - x[0]) / aspect))
        return cls(((x[0] + x[1]) / 2, (y[0] + y[1]) / 2), height, aspect)


def picture(painter: Callable[P, jax.Array]) -> Callable[P, jax.Array]:
    """Decorates a painter: a function `paint_something(height, *numbers, **options)` that returns a picture.

    Numbers are positional arguments: arrays or pytrees of arrays. Options are keyword-only and must be hashable. The
    painter is compiled once for each height and set of options, and inlined under the caller's own `jit`. It receives
    all numbers as arrays of at most 32 bits.

    Raises:
      InvalidArgumentError: the height passed to the painter is not a positive integer.
    """
    paint_numbers: Callable[..., jax.Array] = painter
    parameters = inspect.signature(painter).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]

    @functools.partial(jax.jit, static_argnums=0, static_argnames=names, inline=True)
    @functools.wraps(painter)
    def compiled(height: int, *numbers: PyTree, **options: Hashable) -> jax.Array:
        return paint_numbers(checked_height(height), *trees.narrow(numbers), **options)

    return cast("Callable[P, jax.Array]", compiled)


def paint(height: int, window: Window, *layers: tuple[Shape, Color | Paint], background: Color = PAPER) -> jax.Array:
    """Paints shapes over each other, starting at the back.

    Args:
      height: height of the picture in pixels. Its width is `round(height * window.aspect)`.
      window: the part of the scene to show.
      *layers: shapes and their colors. Edges are blended over one pixel. NaN distances are not painted.
      background: the color behind all shapes.

    Returns:
      uint8 (height, width, 3).

    Raises:
      InvalidArgumentError: the height is not a positive integer, or a number that must be a scalar is a batch.
    """
    size = checked_height(height), max(1, round(height * window.aspect))
    x, y, pixel = _pixel_centers(size, window)
    sharpness = 1 / pixel
    planes = tuple(jnp.full(size, _scalar(level)) for level in background)
    for shape, color in layers:
        inside = np.float32(0.5) - shape(x, y) * sharpness
        coverage = jnp.where(inside > 0, jnp.minimum(inside, 1), 0)
        levels = color(x, y) if callable(color) else map(_scalar, color)
        planes = tuple(plane + coverage * (level - plane) for plane, level in zip(planes, levels, strict=True))
    # Storing the words before splitting them into bytes stops XLA from painting each pixel once per byte.
    return compute_once(_bytes, _words(planes))


def shades(values: ArrayLike, low: Color = PAPER, high: Color = INK) -> Paint:
    """Paints grid cells by `values`, float (rows, columns): 0 is `low`, 1 is `high`, with blending in between."""

    def levels(x: jax.Array, y: jax.Array) -> Color:
        share = _in_cell(jnp.asarray(values, jnp.float32), x, y, outside=0)
        red, green, blue = (_scalar(a) + share * (_scalar(b) - _scalar(a)) for a, b in zip(low, high, strict=True))
        return red, green, blue

    return levels


def checked_height(height: object) -> int:
    """Returns the height as a Python integer. Raises `InvalidArgumentError` if it is not from 1 to 65,536."""
    # Tracing a larger picture could exhaust the memory.
    return positive_integer("the height of a picture", height, InvalidArgumentError, at_most=2**16)


# Shapes.


def circle(center: Point, radius: Number) -> Shape:
    """A disc."""
    return lambda x, y: _norm(x - _scalar(center[0]), y - _scalar(center[1])) - _scalar(radius)


def segment(start: Point, end: Point, radius: Number) -> Shape:
    """A straight line with round ends, `2 * radius` thick. `start` and `end` may coincide."""
    x0, y0, x1, y1 = map(_scalar, (*start, *end))
    dx, dy = x1 - x0, y1 - y0
    scale = 1 / jnp.maximum(dx * dx + dy * dy, np.float32(1e-12))

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        x, y = x - x0, y - y0
        along = jnp.clip(x * (dx * scale) + y * (dy * scale), 0, 1)
        return _norm(x - along * dx, y - along * dy) - _scalar(radius)

    return distance


def box(center: Point, size: Point, corner: Number = 0.0) -> Shape:
    """An axis-aligned rectangle of `size` (width and height), with corners of radius `corner`."""

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        radius = _scalar(corner)
        dx = jnp.abs(x - _scalar(center[0])) - (_scalar(size[0]) / 2 - radius)
        dy = jnp.abs(y - _scalar(center[1])) - (_scalar(size[1]) / 2 - radius)
        outside = _norm(jnp.maximum(dx, 0), jnp.maximum(dy, 0))
        return outside + jnp.minimum(jnp.maximum(dx, dy), 0) - radius

    return distance


def polygon(*vertices: Point) -> Shape:
    """A convex polygon with counter-clockwise vertices.

    Outside, near a vertex, the distance is the larger of the distances to the lines through the two adjacent edges, so
    corners stay sharp.
    """
    corners = [(_scalar(x), _scalar(y)) for x, y in vertices]
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
    return lambda _, y: y - _scalar(level)


def under(curve: Callable[[jax.Array], jax.Array]) -> Shape:
    """Everything below `y = curve(x)`.

    The distance is measured to the curve's tangent at the same x, which is accurate near the curve.
    """

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        level, slope = jax.jvp(curve, (x,), (jnp.ones_like(x),))
        return (y - level) * lax.rsqrt(1 + slope * slope)

    return distance


def arc(center: Point, radius: Number, start: Number, sweep: Number, width: Number) -> Shape:
    """A circular arc with round ends, `width` thick.

    It begins at the angle `start`, counter-clockwise from the x axis, and extends over the angle `sweep`. Both are in
    radians. `sweep` may be negative, and is at most one turn.
    """
    half = jnp.abs(_scalar(sweep)) / 2
    end = _scalar(radius) * trig.cos(half), _scalar(radius) * trig.sin(half)

    def from_middle(x: jax.Array, y: jax.Array) -> jax.Array:
        y = jnp.abs(y)
        is_beside = y * trig.cos(half) <= x * trig.sin(half)  # of the line from the center through the end
        to_circle = jnp.abs(_norm(x, y) - _scalar(radius))
        return jnp.where(is_beside, to_circle, _norm(x - end[0], y - end[1])) - _scalar(width) / 2

    return placed(from_middle, center, _scalar(start) + _scalar(sweep) / 2)


# Operations on shapes.


def union(*shapes: Shape) -> Shape:
    """Combines shapes into one, so that they share a color."""
    return lambda x, y: functools.reduce(jnp.minimum, [shape(x, y) for shape in shapes])


def placed(shape: Shape, origin: Point, angle: Number) -> Shape:
    """Rotates a shape counter-clockwise by `angle` radians about (0, 0), then moves it by `origin`."""
    sine, cosine = trig.sin(_scalar(angle)), trig.cos(_scalar(angle))

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        x, y = x - _scalar(origin[0]), y - _scalar(origin[1])
        return shape(x * cosine + y * sine, y * cosine - x * sine)

    return distance


def scaled(shape: Shape, origin: Point, scale: Number) -> Shape:
    """Scales a shape by a factor `scale` > 0 about (0, 0), then moves it by `origin`."""
    x0, y0, scale = map(_scalar, (*origin, scale))
    return lambda x, y: scale * shape((x - x0) / scale, (y - y0) / scale)


def outline(shape: Shape, width: Number) -> Shape:
    """A line along the shape's edge, `width` thick, centered on the edge."""
    return lambda x, y: jnp.abs(shape(x, y)) - _scalar(width) / 2


def shown(shape: Shape, condition: ArrayLike) -> Shape:
    """The shape if `condition`, a bool scalar, is true, else nothing."""
    return lambda x, y: jnp.where(condition, shape(x, y), np.float32(np.inf))


def repeated(shape: Shape, where: ArrayLike) -> Shape:
    """Copies a shape to the cells of a grid where `where`, bool (rows, columns), is true.

    The shape must be centered on (0, 0). Cells are unit squares and row 0 is at the top: the center of
    `where[row, column]` is `(column + 0.5, rows - row - 0.5)`. Copies are clipped to their cells.
    """

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        copy = shape(x - jnp.floor(x) - np.float32(0.5), y - jnp.floor(y) - np.float32(0.5))
        return jnp.where(_in_cell(jnp.asarray(where, jnp.bool_), x, y, outside=False), copy, np.float32(np.inf))

    return distance


def text(words: str, corner: Point, height: Number) -> Shape:
    """A line of capital letters, digits, "?", "-" and spaces, to the right of its lower left corner.

    A letter is 3/5 as wide as high, and 1/5 of the height lies between two.

    Raises:
      KeyError: another character.
    """
    glyphs = [_FONT[letter] for letter in words]
    pixels = [[bit == "1" for glyph in glyphs for bit in f"{int(glyph[row]):03b}0"] for row in range(5)]
    return scaled(repeated(lambda x, y: jnp.float32(-1), np.array(pixels)), corner, _scalar(height) / 5)


# Helpers.


def _pixel_centers(size: tuple[int, int], window: Window) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Returns x as (1, width), y as (height, 1), and the size of a pixel, in scene units."""
    height, width = size
    pixel = _scalar(window.height) / height
    column = np.arange(width, dtype=np.float32)[None, :] - np.float32(width / 2 - 0.5)
    row = np.arange(height, dtype=np.float32)[:, None] - np.float32(height / 2 - 0.5)
    return _scalar(window.center[0]) + column * pixel, _scalar(window.center[1]) - row * pixel, pixel


def _words(planes: tuple[jax.Array, ...]) -> jax.Array:
    """Packs red, green and blue in [0, 255], each float32 (height, width), into uint32 (height, width)."""
    red, green, blue = ((plane + np.float32(0.5)).astype(jnp.int32) for plane in planes)
    return (red | (green << 8) | (blue << 16)).astype(jnp.uint32)


def _bytes(words: jax.Array) -> jax.Array:
    """Unpacks words from `_words` to uint8 (height, width, 3)."""
    return lax.bitcast_convert_type(words, jnp.uint8)[..., :3]


def _in_cell(values: jax.Array, x: jax.Array, y: jax.Array, outside: Number) -> jax.Array:
    """Returns the value of the cell in which each point lies, or `outside`."""
    rows, columns = values.shape
    row, column = rows - 1 - jnp.floor(y).astype(jnp.int32), jnp.floor(x).astype(jnp.int32)
    is_inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
    return jnp.where(is_inside, values[jnp.clip(row, 0, rows - 1), jnp.clip(column, 0, columns - 1)], outside)


def _scalar(value: Number) -> jax.Array:
    value = jnp.asarray(value, jnp.float32)
    if value.shape:
        raise InvalidArgumentError(
            f"a picture shows one state, got numbers of shape {value.shape}. For a batch, use jax.vmap."
        )
    return value


def _norm(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.sqrt(x * x + y * y)
