"""Captions under frames, and several animations in one."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from envcore.animation.files import checked_frames
from envcore.errors import AnimationError
from envcore.palette import INK, PAPER, SHADE


def caption(frames: Any, texts: Iterable[str]) -> np.ndarray:
    """Adds a strip under each frame, with its text.

    The parts of a text, which two spaces or more divide, each have their place for the whole sequence, so that nothing
    moves but what changes. A part that does not fit beside the others begins a new line; one that is wider than
    the picture is divided. The strip is as high on every frame.

    Args:
      frames: uint8 (time, height, width, 3).
      texts: one for each frame.

    Returns:
      uint8 (time, height + strip, width, 3).

    Raises:
      AnimationError: the frames are none, or there are more or fewer texts than frames.
    """
    from PIL import Image, ImageDraw, ImageFont

    frames, texts = checked_frames(frames), list(texts)
    if len(texts) != len(frames):
        raise AnimationError(f"each frame needs a caption: got {len(frames)} frames and {len(texts)} captions.")
    height, width = frames.shape[1:3]
    size = max(10, round(math.sqrt(height * width) / 20))
    font, margin = ImageFont.load_default(size), size // 3
    measure = functools.cache(font.getlength)
    columns = list(_columns([" ".join(text.splitlines()) for text in texts], width - 2 * margin, measure, ("  ", " ")))
    places, x, line = [], margin, 0
    for column in columns:
        wide = max(map(measure, column))
        if x > margin and x + wide > width - margin:
            x, line = margin, line + 1
        places.append((x, line))
        x += math.ceil(wide) + size
    spacing = math.ceil(1.3 * size)
    out = np.empty((len(frames), height + (line + 1) * spacing + 2 * margin, width, 3), np.uint8)
    out[:, :height] = frames
    for time in range(len(frames)):
        strip = Image.new("RGB", (width, out.shape[1] - height), PAPER)
        canvas = ImageDraw.Draw(strip)
        canvas.line([(0, 0), (width, 0)], SHADE)
        for column, (x, line) in zip(columns, places, strict=True):
            canvas.text((x, margin + line * spacing), column[time], INK, font)
        out[time, height:] = np.asarray(strip)
    return out


def mosaic(videos: Iterable[Any], columns: int | None = None, gap: int = 8) -> np.ndarray:
    """Shows several animations at once, row by row.

    Each is in the middle of a cell, and all cells are as large as the largest needs. One that is shorter than the
    longest holds its last frame.

    Args:
      videos: each uint8 (time, height, width, 3); sizes and lengths may differ.
      columns: how many in a row; by default about as many as there are rows.
      gap: pixels between cells.

    Returns:
      uint8 (time, height, width, 3).

    Raises:
      AnimationError: there are none, one of them has no frames or another shape or dtype, `columns` is no positive
        integer or `gap` is negative.
    """
    videos = [checked_frames(video) for video in videos]
    if not videos:
        raise AnimationError("there are no animations to show together: a mosaic needs at least one.")
    columns = math.ceil(math.sqrt(len(videos))) if columns is None else columns
    if not isinstance(columns, int) or columns < 1 or not isinstance(gap, int) or gap < 0:
        raise AnimationError(f"a mosaic needs at least one column and no negative gap, got {columns!r} and {gap!r}.")
    columns = min(columns, len(videos))
    rows = math.ceil(len(videos) / columns)
    time, height, width = (max(video.shape[axis] for video in videos) for axis in range(3))
    whole = time, rows * (height + gap) - gap, columns * (width + gap) - gap, 3
    out = np.empty(whole, np.uint8)
    out[:] = PAPER
    for video, (row, column) in zip(videos, itertools.product(range(rows), range(columns)), strict=False):
        top = row * (height + gap) + (height - video.shape[1]) // 2
        left = column * (width + gap) + (width - video.shape[2]) // 2
        cell = out[:, top : top + video.shape[1], left : left + video.shape[2]]
        cell[: len(video)] = video
        cell[len(video) :] = video[-1]
    return out


def _columns(texts: Sequence[str], room: float, measure: Any, separators: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Divides texts at the first separator, and what is still too wide at the next ones, at last anywhere."""
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
