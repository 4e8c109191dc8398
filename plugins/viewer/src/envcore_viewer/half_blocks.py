"""Show images in a terminal, with two pixels per character. Does not import JAX."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator

import numpy as np
from rich.color import Color
from rich.console import Console, ConsoleOptions, RenderResult  # noqa: TID251  # a type
from rich.segment import Segment
from rich.style import Style

_CUBE = itertools.product((0, 95, 135, 175, 215, 255), repeat=3)
_XTERM = np.array([*_CUBE, *((level, level, level) for level in range(8, 239, 10))])
"""Colors 16 to 255 of a 256-color terminal. Colors 0 to 15 depend on the user's theme."""

_Pixel = tuple[int, int, int]


class HalfBlocks:
    """A rich renderable that shows an image, uint8 (height, width, 3), with half-block characters.

    It is `width` characters wide and `height / 2` lines high. If the height is odd, the lower half of the last line has
    the terminal's background color. On a 256-color terminal, each pixel gets the nearest color by squared distance.
    Rich would choose by hue, and show dark bluish greys as navy.
    """

    def __init__(self, picture: np.ndarray):
        self.picture = picture

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for row in range(0, len(self.picture), 2):
            yield from _line(self.picture[row : row + 2], console.color_system == "256")
            yield Segment.line()


def _line(rows: np.ndarray, is_indexed: bool) -> Iterator[Segment]:
    columns = (tuple(map(tuple, column)) for column in rows.transpose(1, 0, 2).tolist())
    for pair, run in itertools.groupby(columns):
        yield Segment("\N{UPPER HALF BLOCK}" * len(list(run)), _style(is_indexed, *pair))


@functools.lru_cache(maxsize=65536)
def _style(is_indexed: bool, upper: _Pixel, lower: _Pixel | None = None) -> Style:
    color = _indexed if is_indexed else lambda pixel: Color.from_rgb(*pixel)
    return Style(color=color(upper), bgcolor=None if lower is None else color(lower))


@functools.lru_cache(maxsize=65536)
def _indexed(pixel: _Pixel) -> Color:
    """Returns the nearest color that does not depend on the terminal's theme."""
    return Color.from_ansi(16 + int(np.square(_XTERM - pixel).sum(axis=-1).argmin()))
