"""Animation files: the formats, and writing one without ever leaving a partial file."""

from __future__ import annotations

import contextlib
import math
import os
import stat
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from envcore.errors import FileError
from envcore.files import replacing

from envcore_viewer.animation import apng, gif, mp4, webp
from envcore_viewer.animation.timing import format_fps, fps_as_float
from envcore_viewer.errors import AnimationError


class _Format(NamedTuple):
    name: str
    fps: tuple[float, float]  # the lowest and the highest that it supports
    side: int  # the largest height or width in pixels
    write: Callable[[BinaryIO, np.ndarray, float], None]


_APNG = _Format("an animated PNG", apng.FPS, apng.SIDE, apng.write)
_FORMATS = {
    ".gif": _Format("a GIF", gif.FPS, gif.SIDE, gif.write),
    ".webp": _Format("a WebP", webp.FPS, webp.SIDE, webp.write),
    ".apng": _APNG,
    ".png": _APNG,
    ".mp4": _Format("an MP4", mp4.FPS, mp4.SIDE, mp4.write),
}


def save_animation(path: str | os.PathLike[str], frames: Any, fps: float = 30) -> None:
    """Writes frames to a file in the format of its suffix.

    | suffix           | colors                             | fps          |
    | ---------------- | ---------------------------------- | ------------ |
    | `.gif`           | 255 of them, chosen for all frames | 0.01 to 50   |
    | `.webp`          | exact                              | 0.01 to 90   |
    | `.apng`, `.png`  | exact                              | 0.01 to 90   |
    | `.mp4` (H.264)   | nearly exact, blurred by a pixel   | 0.01 to 1000 |

    All formats but MP4 loop forever. MP4 needs the extra `envcore-viewer[video]`, and even sides: an odd side is padded
    with its last row or column. The file appears, or replaces an older one and keeps its permissions, only when it is
    complete: whatever goes wrong, no partial file is left. A symbolic link is kept, and its target is written.

    Args:
      path: the file.
      frames: uint8 (time, height, width, 3), a numpy or JAX array.
      fps: frames per second. In a GIF or a WebP, equal frames may be stored as one frame that lasts longer.

    Raises:
      AnimationError: there are no frames, they have the wrong shape or dtype, or they are too large for the format;
        `fps` is out of range; or the path cannot be written to.
      MissingExtraError: an `AnimationError`; the format needs an extra that is not installed.
    """
    path = checked_path(path)
    frames = checked_frames(frames)
    with _explained(path), replacing(path) as file:
        write(file, path.suffix, frames, fps)


def check_writable(path: str | os.PathLike[str], fps: float = 30, size: tuple[int, int] | None = None) -> None:
    """Raises the errors that `save_animation` would raise for these arguments; call it before a long computation.

    Args:
      path: the file.
      fps: frames per second.
      size: the height and width of the frames in pixels, if known.

    Raises:
      AnimationError: the suffix is unknown; the folder does not exist or is not writable; the path is a folder, a
        device or read-only; or the format does not support the frame rate or the size.
      MissingExtraError: an `AnimationError`; the format needs an extra that is not installed.
    """
    path = checked_path(path)
    kind = _FORMATS[path.suffix.lower()]
    _checked_fps(kind, fps)
    if size is not None:
        _check_size(kind, *size)
    with _explained(path), tempfile.TemporaryFile(dir=path.resolve().parent):
        pass


def write(file: BinaryIO, suffix: str, frames: np.ndarray, fps: float) -> None:
    """Writes checked frames into an open file in the format of a suffix.

    Raises:
      AnimationError: the frames are too large for the format, or `fps` is out of range.
    """
    kind = _FORMATS[suffix.lower()]
    fps = _checked_fps(kind, fps)
    _check_size(kind, *frames.shape[1:3])
    kind.write(file, frames, fps)


def nearest_fps(suffix: str, fps: float) -> float:
    """The frame rate nearest to `fps` that a format supports."""
    slowest, quickest = _FORMATS[suffix.lower()].fps
    return min(max(fps, slowest), quickest)


def checked_frames(frames: Any) -> np.ndarray:
    """Returns the frames as a numpy array.

    Raises:
      AnimationError: they are not uint8 (time, height, width, 3), or there are none.
    """
    frames = np.asarray(frames)
    if frames.shape[:1] == (0,):
        raise AnimationError("there are no frames to save: an animation needs at least one.")
    if frames.ndim != 4 or frames.shape[-1] != 3 or not frames.size:
        raise AnimationError(f"frames must have shape (time, height, width, 3), got {frames.shape}.")
    if frames.dtype != np.uint8:
        raise AnimationError(f"frames must be uint8, levels from 0 to 255, got {frames.dtype}: convert them.")
    return frames


def empty_frames(shape: tuple[int, ...]) -> np.ndarray:
    """Returns an uninitialized array for frames, uint8 (..., height, width, 3).

    Raises:
      AnimationError: there is not enough memory.
    """
    try:
        return np.empty(shape, np.uint8)
    except (MemoryError, ValueError) as error:  # numpy raises ValueError for impossible sizes
        *count, height, width, _ = shape
        raise AnimationError(
            f"{math.prod(count)} frames of {width} x {height} pixels need {math.prod(shape) / 2**30:.1f} GiB, more "
            "than is available: use fewer or smaller frames."
        ) from error


def checked_path(path: Any) -> Path:
    """Returns the path as a `Path`.

    Raises:
      AnimationError: a file cannot be written there, or the suffix is unknown.
      MissingExtraError: the format needs an extra that is not installed.
    """
    try:
        path = Path(path)
    except TypeError:
        raise AnimationError(f"a path must be a string or a pathlib.Path, got {type(path).__name__}.") from None
    with _explained(path):
        old = _status(path)
        folder = (path.resolve() if path.is_symlink() else path).parent
        in_folder = stat.S_ISDIR(_status(folder))
    if stat.S_ISDIR(old):
        example = _name(path / "animation.gif")
        raise AnimationError(f"{_name(path)} is a folder: name a file in it, for example {example}.")
    if path.suffix.lower() not in _FORMATS:
        *others, last = _FORMATS
        raise AnimationError(f"cannot write {_name(path)}: the name must end in {', '.join(others)} or {last}.")
    if not in_folder:
        raise AnimationError(f"cannot write {_name(path)}: the folder {_name(folder)} does not exist; create it first.")
    if old and not stat.S_ISREG(old):
        raise AnimationError(f"cannot write {_name(path)}: it exists and is not a regular file; choose another name.")
    if old and not os.access(path, os.W_OK):
        raise AnimationError(f"cannot write {_name(path)}: the file is read-only; choose another name.")
    if path.suffix.lower() == ".mp4":
        mp4.ffmpeg()
    return path


def _status(path: Path) -> int:
    """The mode of the file at a path, following links; 0 if there is none."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except ValueError as error:
        raise AnimationError(f"cannot write {_name(path)}: {error}; choose another name.") from error


def _name(path: Path) -> str:
    """A path for an error message on one line."""
    return str(path) if str(path).isprintable() else repr(str(path))


def _check_size(kind: _Format, height: int, width: int) -> None:
    if max(height, width) > kind.side:
        raise AnimationError(
            f"{kind.name} can be at most {kind.side} pixels wide and high, the frames are {width} by {height}: "
            "make them smaller."
        )


def _checked_fps(kind: _Format, fps: Any) -> float:
    slowest, quickest = kind.fps
    if not slowest <= fps_as_float(fps) <= quickest:
        raise AnimationError(
            f"{kind.name} supports {slowest} to {quickest} frames per second, got {format_fps(fps)}: "
            "choose another number, or another format."
        )
    return fps_as_float(fps)


@contextlib.contextmanager
def _explained(path: Path) -> Generator[None]:
    """Turns system errors into errors that say what to do."""
    try:
        yield
    except (FileError, OSError) as error:
        found = error.__cause__ or error
        reason = getattr(found, "strerror", None) or found
        raise AnimationError(f"cannot write {_name(path)}: {reason}; choose another place.") from found
