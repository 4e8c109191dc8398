"""Write animations to files, add captions, and join several animations into a mosaic.

Frames are uint8 (time, height, width, 3). JAX (for envcore's colors) and Pillow are imported only when needed.
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
import math
import numbers
import os
import textwrap
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from envcore.checks import positive_integer
from envcore.files import replacing
from envcore.suggestions import how_to_install

from envcore_viewer.errors import AnimationError

_NARROWEST = 32  # pixels, because a narrower caption has room for single letters only
_LARGEST_SIDES = {".webp": 16_383, ".gif": 65_535}  # pixels


def save_animation(path: str | os.PathLike[str], frames: Any, fps: float = 30) -> None:
    """Writes frames to a GIF, WebP, animated PNG or MP4 file, depending on the suffix.

    | suffix          | colors                              | frame times in            | at most |
    | --------------- | ----------------------------------- | ------------------------- | ------- |
    | `.gif`          | 255 for all frames                  | hundredths of a second    | 50 fps  |
    | `.webp`         | exact                               | milliseconds              | 90 fps  |
    | `.png`, `.apng` | exact                               | milliseconds              | 90 fps  |
    | `.mp4` (H.264)  | nearly exact, shared by 2x2 pixels  | fractions of a second     |         |

    A higher `fps` is lowered to the limit, because browsers slow down faster animations. All formats except MP4 loop
    forever. MP4 needs the extra `envcore-viewer[video]`. If the height or width is odd, MP4 repeats the last row or
    column. The file is created or replaced only when it is complete.

    Args:
      path: the output file.
      frames: uint8 (time, height, width, 3), a numpy or JAX array.
      fps: frames per second.

    Raises:
      AnimationError: there are no frames, they have the wrong shape or dtype or are too large for the format, or
        `check_writable` refuses the path or `fps`.
      FileError: the file cannot be written. An existing file is kept.
    """
    path, frames = check_writable(path, fps), checked_frames(frames)
    if max(frames.shape[1:3]) > (most := _LARGEST_SIDES.get(path.suffix.lower(), math.inf)):
        raise AnimationError(f"cannot write {path}: a side of this format has at most {most:,} pixels. Use a PNG.")
    with replacing(path) as file:
        write(file, path.suffix, frames, fps)


def check_writable(path: str | os.PathLike[str], fps: float = 30) -> Path:
    """Checks that `save_animation` can write to the path. Call it before a long computation.

    Args:
      path: the output file.
      fps: frames per second.

    Returns:
      The path.

    Raises:
      AnimationError: the suffix is unknown, its extra is not installed, the folder does not exist, the folder or an
        existing file is read-only, or `fps` is not a number of at least 0.01.
    """
    path = Path(path)
    if path.suffix.lower() not in _WRITERS:
        raise AnimationError(f"cannot write {path}: the name must end in {', '.join(_WRITERS)}.")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise AnimationError(f"cannot write {path}: the folder {folder} does not exist. Create it first.")
    for each in (folder, path):
        if each.exists() and not os.access(each, os.W_OK):
            raise AnimationError(f"cannot write {path}: {each} is read-only. Choose another place.")
    if path.suffix.lower() == ".mp4" and importlib.util.find_spec("imageio_ffmpeg") is None:
        needed = how_to_install("envcore-viewer[video]")
        raise AnimationError(f"to write an MP4, {needed}. GIF, WebP and PNG need no extra.")
    checked_fps(fps)
    return path


def write(file: BinaryIO, suffix: str, frames: np.ndarray, fps: float) -> None:
    """Writes valid frames to an open file in the format of the suffix."""
    _WRITERS[suffix.lower()](file, frames, fps)


def _write_gif(file: BinaryIO, frames: np.ndarray, fps: float) -> None:
    """Writes a GIF with one palette for all frames, so that unchanged pixels do not flicker and take no space."""
    from PIL import Image

    everything = Image.fromarray(frames.reshape(-1, frames.shape[2], 3))
    # The 256th color marks unchanged pixels. This method keeps large areas exact and is twice as fast as the default.
    colors = everything.quantize(255, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    palette = bytes(colors.getpalette() or [])
    images = [Image.fromarray(indices) for indices in np.asarray(colors).reshape(frames.shape[:3])]
    for image in images:
        image.putpalette(palette)
    _save_images(file, images, "GIF", 10 * max(2, round(100 / fps)), palette=palette, optimize=True)


def _write_exact(format_name: str, file: BinaryIO, frames: np.ndarray, fps: float, **options: Any) -> None:
    from PIL import Image

    _save_images(file, list(map(Image.fromarray, frames)), format_name, max(11, round(1000 / fps)), **options)


def _save_images(file: BinaryIO, images: list[Any], format_name: str, milliseconds: int, **options: Any) -> None:
    first, *others = images
    options |= {"save_all": True, "append_images": others, "duration": milliseconds, "loop": 0}
    first.save(file, format=format_name, **options)


def _write_mp4(file: BinaryIO, frames: np.ndarray, fps: float) -> None:
    import imageio.v3 as iio

    height, width = frames.shape[1:3]
    frames = np.pad(frames, ((0, 0), (0, height % 2), (0, width % 2), (0, 0)), "edge")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "os.fork", RuntimeWarning)  # JAX warns, but the child becomes ffmpeg at once
        try:
            options: dict[str, Any] = {"codec": "libx264", "fps": fps, "quality": 7, "macro_block_size": 2}
            video = iio.imwrite("<bytes>", frames, extension=".mp4", plugin="FFMPEG", **options)
        except OSError:
            video = b""
    if b"moov" not in video:  # the index, which ffmpeg writes last, because imageio ignores the exit status
        raise OSError("ffmpeg stopped before the end of the video, see its messages above")
    file.write(video)


_WEBP = {"lossless": True, "quality": 20, "method": 1}  # more effort takes four times as long
_WRITERS: dict[str, Callable[[BinaryIO, np.ndarray, float], None]] = {
    ".gif": _write_gif,
    ".webp": functools.partial(_write_exact, "WEBP", **_WEBP),
    ".png": functools.partial(_write_exact, "PNG"),
    ".apng": functools.partial(_write_exact, "PNG"),
    ".mp4": _write_mp4,
}


def checked_fps(fps: Any) -> float:
    """Returns `fps` as a float. Raises `AnimationError` unless it is a number of at least 0.01."""
    if isinstance(fps, bool) or not isinstance(fps, numbers.Real) or not 0.01 <= float(fps) < math.inf:
        raise AnimationError(f"fps must be a number of frames per second, at least 0.01, got {fps!r}.")
    return float(fps)


def checked_frames(frames: Any) -> np.ndarray:
    """Returns frames as a numpy array. Raises `AnimationError` unless they are uint8 (time, height, width, 3)."""
    frames = np.asarray(frames)
    if frames.ndim != 4 or frames.shape[-1] != 3 or not frames.size or frames.dtype != np.uint8:
        raise AnimationError(
            f"frames must be uint8 (time, height, width, 3), at least one, got {frames.dtype} {frames.shape}."
        )
    return frames


def caption(frames: Any, texts: Iterable[str]) -> np.ndarray:
    """Adds a caption below each frame.

    Separate the parts of a text by two spaces. Each part keeps its position throughout the animation. A part that does
    not fit on the line starts a new line, and a part that is wider than the frame is split. The caption has the same
    height on every frame.

    Args:
      frames: uint8 (time, height, width, 3), at least 32 pixels wide.
      texts: one text per frame.

    Returns:
      uint8 (time, height + caption, width, 3).

    Raises:
      AnimationError: there are no frames, they are too narrow, or the numbers of texts and frames differ.
    """
    from envcore.painting import INK, PAPER, SHADE
    from PIL import Image, ImageDraw, ImageFont

    frames, texts = checked_frames(frames), list(texts)
    if len(texts) != len(frames):
        raise AnimationError(f"each frame needs a caption: got {len(frames)} frames and {len(texts)} captions.")
    height, width = frames.shape[1:3]
    if width < _NARROWEST:
        raise AnimationError(
            f"a picture needs a width of {_NARROWEST} pixels for a caption, this one has {width}: render it larger, or "
            "without a caption."
        )
    size = max(10, round(math.sqrt(height * width) / 20))
    font, margin, spacing = ImageFont.load_default(size), size // 3, math.ceil(1.3 * size)
    columns = _columns(texts, width - 2 * margin, functools.cache(font.getlength))
    places, x, y = list[tuple[int, int]](), margin, margin
    for _, wide in columns:
        if x > margin and x + wide > width - margin:
            x, y = margin, y + spacing
        places.append((x, y))
        x += math.ceil(wide) + size
    strips = []
    for time in range(len(frames)):
        strip = Image.new("RGB", (width, y + spacing + margin), PAPER)
        canvas = ImageDraw.Draw(strip)
        canvas.line([(0, 0), (width, 0)], SHADE)
        for (column, _), place in zip(columns, places, strict=True):
            canvas.text(place, column[time], INK, font)
        strips.append(np.asarray(strip))
    return np.concatenate([frames, np.stack(strips)], axis=1)


def _columns(texts: list[str], room: float, measure: Callable[[str], float]) -> list[tuple[tuple[str, ...], float]]:
    """Returns the parts of all texts and their greatest widths. Wraps parts wider than `room`, at spaces if it can."""
    widest = max(map(measure, {"", *"".join(texts)}))
    columns: list[tuple[str, ...]] = []
    for column in itertools.zip_longest(*(text.split("  ") for text in texts), fillvalue=""):
        pieces = [[part] for part in column]
        if max(map(measure, column)) > room:
            pieces = [textwrap.wrap(part, max(1, int(room / widest))) for part in column]
        columns += itertools.zip_longest(*pieces, fillvalue="")
    return [(column, max(map(measure, column))) for column in columns]


def mosaic(videos: Iterable[Any], columns: int | None = None, gap: int = 8) -> np.ndarray:
    """Joins several animations into one grid.

    All cells have the size of the largest animation, and smaller animations are centered. Shorter animations end with
    their last frame.

    Args:
      videos: arrays of uint8 (time, height, width, 3). Sizes and lengths may differ.
      columns: number of columns. By default the grid is about square.
      gap: number of pixels between cells.

    Returns:
      uint8 (time, height, width, 3).

    Raises:
      AnimationError: there are no animations, one of them has no frames or the wrong shape or dtype, or `columns` is
        not a positive integer.
    """
    from envcore.painting import PAPER

    videos = [checked_frames(video) for video in videos]
    if not videos:
        raise AnimationError("there are no animations to show together: a mosaic needs at least one.")
    columns = positive_integer("columns", columns or math.ceil(math.sqrt(len(videos))), AnimationError)
    columns = min(columns, len(videos))
    rows = math.ceil(len(videos) / columns)
    time, height, width = (max(video.shape[axis] for video in videos) for axis in range(3))
    out = np.empty((time, rows * (height + gap) - gap, columns * (width + gap) - gap, 3), np.uint8)
    out[:] = PAPER
    for video, (row, column) in zip(videos, itertools.product(range(rows), range(columns)), strict=False):
        top = row * (height + gap) + (height - video.shape[1]) // 2
        left = column * (width + gap) + (width - video.shape[2]) // 2
        cell = out[:, top : top + video.shape[1], left : left + video.shape[2]]
        cell[: len(video)] = video
        cell[len(video) :] = video[-1]
    return out
