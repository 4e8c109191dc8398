"""From shapes and colors to pixels."""

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

from envcore import trees
from envcore.checks import positive_integer
from envcore.errors import EnvcoreError, InvalidArgumentError
from envcore.fusion import compute_once
from envcore.painting.shapes import Number, Point, Shape, in_cell, scalar
from envcore.typing import PyTree

Color: TypeAlias = tuple[Number, Number, Number]
"""Red, green and blue, scalars from 0 to 255."""

PAPER = (246, 244, 239)  # the background
SHADE = (226, 223, 214)  # guides and other things in the background
STONE = (160, 164, 171)  # fixed parts: rails, walls, posts
INK = (38, 45, 58)  # wheels, joints, outlines
BLUE = (49, 104, 178)
ORANGE = (203, 91, 24)  # as dark as a contrast of 3 with pale boards, and with INK, needs
GREEN = (98, 158, 107)
RED = (208, 66, 61)
YELLOW = (244, 190, 66)

Paint: TypeAlias = Callable[[jax.Array, jax.Array], Color]
"""A color that depends on the position: a function of x and y, as for a shape, to levels that broadcast with them."""

P = ParamSpec("P")

_MAX_HEIGHT = 2**16  # in pixels


class Window(NamedTuple):
    """The part of the scene that a picture shows.

    Attributes:
      center: the point at its center.
      height: distance from its lower to its upper edge, float scalar > 0.
      aspect: width divided by height, a Python float.
    """

    center: Point
    height: Number
    aspect: float

    @classmethod
    def around(cls, x: Point, y: Point, aspect: float = 1.0) -> Window:
        """The smallest window with this aspect ratio that shows `x[0] <= x <= x[1]` and `y[0] <= y <= y[1]`."""
        height = jnp.maximum(scalar(y[1] - y[0]), scalar((x[1] - x[0]) / aspect))
        return cls(((x[0] + x[1]) / 2, (y[0] + y[1]) / 2), height, aspect)


def picture(painter: Callable[P, jax.Array]) -> Callable[P, jax.Array]:
    """Decorates a painter: a function `paint_something(height, *numbers, **options)` that returns a picture.

    Numbers are given by position, as arrays or pytrees of arrays. Options, which are keyword-only, must be hashable.
    The painter is compiled once for each height and set of options, and is inlined under the caller's own `jit`. It
    receives every number as an array of at most 32 bits.

    Raises:
      InvalidArgumentError: of the painter, the height is not a positive integer, or numbers do not have the shapes that
        it expects, as those of a batch of states.
    """
    paint_numbers: Callable[..., jax.Array] = painter
    parameters = inspect.signature(painter).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]

    @functools.partial(jax.jit, static_argnums=0, static_argnames=names, inline=True)
    @functools.wraps(painter)
    def compiled(height: int, *numbers: PyTree, **options: Hashable) -> jax.Array:
        return paint_numbers(height, *trees.narrow(numbers), **options)

    def checked(height: int, *numbers: PyTree, **options: Hashable) -> jax.Array:
        height = checked_height(height)
        try:
            return compiled(height, *numbers, **options)
        except (TypeError, ValueError) as error:
            if isinstance(error, EnvcoreError):
                raise
            shapes = ", ".join(str(jnp.shape(number)) for number in jax.tree.leaves(numbers))
            raise InvalidArgumentError(
                f"{painter.__name__} got numbers of shapes {shapes}: a picture shows one state; "
                "for a batch, use jax.vmap."
            ) from error

    return cast("Callable[P, jax.Array]", functools.wraps(painter)(checked))


def paint(height: int, window: Window, *layers: tuple[Shape, Color | Paint], background: Color = PAPER) -> jax.Array:
    """Paints shapes over each other, the first at the back.

    Args:
      height: the height of the picture in pixels; its width is `round(height * window.aspect)`.
      window: the part of the scene to show.
      *layers: shapes and their colors. Edges are blended over one pixel; where a distance is NaN, nothing is painted.
      background: the color behind all shapes.

    Returns:
      uint8 (height, width, 3).

    Raises:
      InvalidArgumentError: the height is not a positive integer, or a number that must be a scalar is a batch.
    """
    size = checked_height(height), max(1, round(height * window.aspect))
    x, y, pixel = _pixel_centers(size, window)
    sharpness = 1 / pixel
    planes = tuple(jnp.full(size, scalar(level)) for level in background)
    for shape, color in layers:
        inside = np.float32(0.5) - shape(x, y) * sharpness
        coverage = jnp.where(inside > 0, jnp.minimum(inside, 1), 0)
        levels = color(x, y) if callable(color) else map(scalar, color)
        planes = tuple(plane + coverage * (level - plane) for plane, level in zip(planes, levels, strict=True))
    # The words are stored before they are split into bytes, or XLA would paint each pixel once per byte.
    return compute_once(_bytes, _words(planes))


def shades(values: ArrayLike, low: Color = PAPER, high: Color = INK) -> Paint:
    """Paints grid cells `low` where `values`, float (rows, columns), is 0, `high` where it is 1, blended between."""

    def levels(x: jax.Array, y: jax.Array) -> Color:
        share = in_cell(jnp.asarray(values, jnp.float32), x, y, outside=0)
        red, green, blue = (scalar(a) + share * (scalar(b) - scalar(a)) for a, b in zip(low, high, strict=True))
        return red, green, blue

    return levels


def checked_height(height: object) -> int:
    """Returns the height as a Python integer, and raises `InvalidArgumentError` if it is not one from 1 to 65,536."""
    # No image format allows more, and tracing a larger picture could exhaust the memory.
    return positive_integer("the height of a picture", height, InvalidArgumentError, at_most=_MAX_HEIGHT)


def _pixel_centers(size: tuple[int, int], window: Window) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Returns x as (1, width), y as (height, 1), and the size of a pixel, in units of the scene."""
    height, width = size
    pixel = scalar(window.height) / height
    column = np.arange(width, dtype=np.float32)[None, :] - np.float32(width / 2 - 0.5)
    row = np.arange(height, dtype=np.float32)[:, None] - np.float32(height / 2 - 0.5)
    return scalar(window.center[0]) + column * pixel, scalar(window.center[1]) - row * pixel, pixel


def _words(planes: tuple[jax.Array, ...]) -> jax.Array:
    """Packs red, green and blue in [0, 255], each float32 (height, width), into uint32 (height, width)."""
    red, green, blue = ((plane + np.float32(0.5)).astype(jnp.int32) for plane in planes)
    return (red | (green << 8) | (blue << 16)).astype(jnp.uint32)


def _bytes(words: jax.Array) -> jax.Array:
    """Unpacks such words to uint8 (height, width, 3)."""
    return lax.bitcast_convert_type(words, jnp.uint8)[..., :3]
