"""Pictures as text, two pixels per character: the two colors of an upper half block. Imports no JAX."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from itertools import groupby

import numpy as np
from rich.color import Color
from rich.console import Console, ConsoleOptions, RenderResult  # noqa: TID251  # a type
from rich.segment import Segment
from rich.style import Style


class HalfBlocks:
    """A rich renderable of uint8 (height, width, 3), `width` characters wide and `height / 2` lines high.

    If the height is odd, the lower half of the last line has the terminal's own background.
    """

    def __init__(self, picture: np.ndarray):
        self.picture = picture

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for row in range(0, len(self.picture), 2):
            yield from _line(self.picture[row : row + 2])
            yield Segment.line()


def _line(rows: np.ndarray) -> Iterator[Segment]:
    columns = (tuple(map(tuple, column)) for column in rows.transpose(1, 0, 2).tolist())
    for pair, run in groupby(columns):
        yield Segment("\N{UPPER HALF BLOCK}" * len(list(run)), _style(*pair))


@functools.lru_cache(maxsize=65536)
def _style(upper: tuple[int, int, int], lower: tuple[int, int, int] | None = None) -> Style:
    return Style(color=Color.from_rgb(*upper), bgcolor=None if lower is None else Color.from_rgb(*lower))
