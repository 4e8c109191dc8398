"""Files of frames: which formats there are, and how one is written without ever leaving half a file."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from envcore.animation import apng, gif, mp4, webp
from envcore.animation.timing import rate
from envcore.errors import AnimationError


class _Format(NamedTuple):
    name: str
    fps: tuple[float, float]  # the slowest and the fastest that it plays
    side: int  # the longest side of a picture in pixels
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
    """Writes frames to a file whose suffix decides the format.

    | suffix           | colours                            | fps          |
    | ---------------- | ---------------------------------- | ------------ |
    | `.gif`           | 255 of them, chosen for all frames | 0.01 to 50   |
    | `.webp`          | exact                              | 0.01 to 90   |
    | `.apng`, `.png`  | exact                              | 0.01 to 90   |
    | `.mp4` (H.264)   | nearly exact, blurred by a pixel   | 0.01 to 1000 |

    All but MP4 loop for ever. An MP4 has even sides: an odd one repeats its last row or column; it needs the extra
    `envcore[video]`. The file appears, or takes the place of an older one, when it is complete: whatever goes wrong,
    no half-written one is left.

    Args:
      path: the file.
      frames: uint8 (time, height, width, 3), a numpy or JAX array.
      fps: frames per second. In a GIF or a WebP, frames that show no change may be stored as a single one that lasts
        longer.

    Raises:
      AnimationError: there are no frames, or they have another shape or dtype, or are too large for the format; `fps`
        is out of range; the path cannot be written to.
      MissingExtraError: an `AnimationError`; the format needs an extra that is not installed.
    """
    path = _checked_path(path)
    frames = checked_frames(frames)
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with _explained(path):
        try:
            with new.open("xb") as file:
                write(file, path.suffix, frames, fps)
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str], fps: float = 30) -> None:
    """Raises what `save_animation` would raise because of its path or `fps`: call it before a long computation.

    Raises:
      AnimationError: the suffix is none that can be written, the folder does not exist or refuses new files, or the
        path is itself a folder; the format does not play that many frames per second.
      MissingExtraError: an `AnimationError`; the format needs an extra that is not installed.
    """
    path = _checked_path(path)
    _checked_fps(_FORMATS[path.suffix.lower()], fps)
    with _explained(path), tempfile.TemporaryFile(dir=path.parent):
        pass


def write(file: BinaryIO, suffix: str, frames: np.ndarray, fps: float) -> None:
    """Writes checked frames into an open file, in the format of a suffix; an MP4 only into one that has a name.

    Raises:
      AnimationError: the frames are too large for the format, or `fps` is out of range.
    """
    kind = _FORMATS[suffix.lower()]
    fps = _checked_fps(kind, fps)
    height, width = frames.shape[1:3]
    if max(height, width) > kind.side:
        raise AnimationError(
            f"{kind.name} is at most {kind.side} pixels wide and high, the frames are {width} by {height}: "
            "make them smaller."
        )
    kind.write(file, frames, fps)


def fastest(suffix: str) -> float:
    """The most frames per second that a format plays."""
    return _FORMATS[suffix].fps[1]


def checked_frames(frames: Any) -> np.ndarray:
    """The frames as a numpy array.

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


def _checked_path(path: str | os.PathLike[str]) -> Path:
    path = Path(path)
    if path.is_dir():
        raise AnimationError(f"{path} is a folder: name a file in it, for example {path / 'animation.gif'}.")
    if path.suffix.lower() not in _FORMATS:
        *others, last = _FORMATS
        raise AnimationError(f"cannot write {path}: the name must end in {', '.join(others)} or {last}.")
    if not path.parent.is_dir():
        raise AnimationError(f"cannot write {path}: the folder {path.parent} does not exist; create it first.")
    if path.suffix.lower() == ".mp4":
        mp4.ffmpeg()
    return path


def _checked_fps(kind: _Format, fps: Any) -> float:
    slowest, quickest = kind.fps
    if not slowest <= rate(fps) <= quickest:
        raise AnimationError(
            f"{kind.name} plays from {slowest} to {quickest} frames per second, got {fps}: "
            "choose another number, or another format."
        )
    return rate(fps)


@contextlib.contextmanager
def _explained(path: Path) -> Generator[None]:
    """Turns the system's refusals into errors that say what to do."""
    try:
        yield
    except OSError as error:
        raise AnimationError(f"cannot write {path}: {error.strerror or error}; choose another place.") from error
