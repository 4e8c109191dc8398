"""Captions under frames, and mosaics of several animations."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from envcore_viewer.animation.files import checked_frames, empty_frames
from envcore_viewer.errors import AnimationError

NARROWEST = 32
"""The smallest width in pixels of a picture with a caption; a narrower one would have room for single letters only."""


def caption(frames: Any, texts: Iterable[str]) -> np.ndarray:
    """Adds a strip with a text under each frame.

    The parts of a text, separated by two or more spaces, keep their positions for the whole sequence, so that only what
    changes moves. A part that does not fit on the line starts a new one; one that is wider than the picture is split.
    The strip has the same height on every frame.

    Args:
      frames: uint8 (time, height, width, 3), at least 32 pixels wide.
      texts: one for each frame.

    Returns:
      uint8 (time, height + strip, width, 3).

    Raises:
      AnimationError: there are no frames, they are too narrow, or the numbers of texts and frames differ.
    """
    from envcore.painting import INK, PAPER, SHADE
    from PIL import Image, ImageDraw

    frames, texts = checked_frames(frames), list(texts)
    if len(texts) != len(frames):
        raise AnimationError(f"each frame needs a caption: got {len(frames)} frames and {len(texts)} captions.")
    height, width = frames.shape[1:3]
    layout = _layout(texts, height, width)
    out = empty_frames((len(frames), height + layout.height, width, 3))
    out[:, :height] = frames
    for time in range(len(frames)):
        strip = Image.new("RGB", (width, layout.height), PAPER)
        canvas = ImageDraw.Draw(strip)
        canvas.line([(0, 0), (width, 0)], SHADE)
        for column, place in zip(layout.columns, layout.places, strict=True):
            canvas.text(place, column[time], INK, layout.font)
        out[time, height:] = np.asarray(strip)
    return out


def strip_height(texts: Sequence[str], height: int, width: int) -> int:
    """The number of pixels that `caption` adds below pictures of a size."""
    return _layout(texts, height, width).height


def check_width(width: int) -> None:
    """Raises `AnimationError` for pictures that are too narrow for a caption."""
    if width < NARROWEST:
        raise AnimationError(
            f"a picture needs a width of {NARROWEST} pixels for a caption, this one has {width}: render it larger, or "
            "without a caption."
        )


class _Layout(NamedTuple):
    columns: list[tuple[str, ...]]  # the text of each part on every frame
    places: list[tuple[int, int]]  # and its position in the strip: x and y in pixels
    height: int
    font: Any


def _layout(texts: Sequence[str], height: int, width: int) -> _Layout:
    """The layout of the strips under pictures of a size."""
    from PIL import ImageFont

    check_width(width)
    size = max(10, round(math.sqrt(height * width) / 20))
    font, margin, spacing = ImageFont.load_default(size), size // 3, math.ceil(1.3 * size)
    measure = functools.cache(font.getlength)
    columns = list(_columns([" ".join(text.splitlines()) for text in texts], width - 2 * margin, measure, ("  ", " ")))
    places, x, y = [], margin, margin
    for column in columns:
        wide = max(map(measure, column))
        if x > margin and x + wide > width - margin:
            x, y = margin, y + spacing
        places.append((x, y))
        x += math.ceil(wide) + size
    return _Layout(columns, places, y + spacing + margin, font)


def mosaic(videos: Iterable[Any], columns: int | None = None, gap: int = 8) -> np.ndarray:
    """Joins several animations into one, row by row.

    Each is centered in a cell, and all cells have the size of the largest animation. An animation that is shorter than
    the longest stays at its last frame.

    Args:
      videos: uint8 (time, height, width, 3) each; sizes and lengths may differ.
      columns: number of columns; by default about as many as rows.
      gap: number of pixels between cells.

    Returns:
      uint8 (time, height, width, 3).

    Raises:
      AnimationError: there are no animations, one of them has no frames or the wrong shape or dtype, `columns` is not a
        positive integer, or `gap` is negative.
    """
    from envcore.painting import PAPER

    videos = [checked_frames(video) for video in videos]
    if not videos:
        raise AnimationError("there are no animations to show together: a mosaic needs at least one.")
    columns = _columns_of(len(videos)) if columns is None else columns
    if not isinstance(columns, int) or columns < 1 or not isinstance(gap, int) or gap < 0:
        raise AnimationError(
            f"a mosaic needs at least one column and a gap of at least 0, got {columns!r} and {gap!r}."
        )
    columns = min(columns, len(videos))
    time, height, width = (max(video.shape[axis] for video in videos) for axis in range(3))
    out = empty_frames((time, *mosaic_size(len(videos), height, width, columns, gap), 3))
    rows = math.ceil(len(videos) / columns)
    out[:] = PAPER
    for video, (row, column) in zip(videos, itertools.product(range(rows), range(columns)), strict=False):
        top = row * (height + gap) + (height - video.shape[1]) // 2
        left = column * (width + gap) + (width - video.shape[2]) // 2
        cell = out[:, top : top + video.shape[1], left : left + video.shape[2]]
        cell[: len(video)] = video
        cell[len(video) :] = video[-1]
    return out


def mosaic_size(count: int, height: int, width: int, columns: int | None = None, gap: int = 8) -> tuple[int, int]:
    """The height and width of a mosaic of `count` pictures of a size."""
    columns = min(_columns_of(count) if columns is None else columns, count)
    return math.ceil(count / columns) * (height + gap) - gap, columns * (width + gap) - gap


def _columns_of(count: int) -> int:
    return math.ceil(math.sqrt(count))


def _columns(texts: Sequence[str], room: float, measure: Any, separators: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Splits texts at the first separator, parts that are still too wide at the next ones, and finally anywhere."""
    if separators:
        parts = [[part.strip() for part in text.split(separators[0]) if part.strip()] for text in texts]
    else:
        widest = max(measure(letter) for letter in set("".join(texts)))
        length = max(1, int(room / widest))
        parts = [[text[at : at + length] for at in range(0, len(text), length)] for text in texts]
    for column in itertools.zip_longest(*parts, fillvalue=""):
        if separators and max(map(measure, column)) > room:
            yield from _columns(column, room, measure, separators[1:])
        else:
            yield column
