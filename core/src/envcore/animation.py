"""Saving frames as a moving picture. Imports no JAX; Pillow only when it writes."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from envcore.errors import AnimationError


def save_animation(path: str | os.PathLike[str], frames: Any, fps: float = 30) -> None:
    """Writes frames to a file whose suffix decides the format: `.gif`.

    The file appears, or takes the place of an older one, when it is complete: whatever goes wrong, no half-written
    one is left.

    Args:
      path: the file.
      frames: uint8 (time, height, width, 3), a numpy or JAX array.
      fps: frames per second; a GIF plays from 0.01 to 50. Frames that show no change may be stored as a single one
        that lasts longer.

    Raises:
      AnimationError: there are no frames, or they have another shape or dtype; `fps` is out of range; the path cannot
        be written to.
    """
    path = _checked_path(path)
    frames = _checked_frames(frames)
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with _explained(path):
        try:
            with new.open("xb") as file:
                _WRITERS[path.suffix.lower()](file, frames, fps)
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raises what `save_animation` would raise because of its path: call it before a long computation.

    Raises:
      AnimationError: the suffix is none that can be written, the folder does not exist or refuses new files, or the
        path is itself a folder.
    """
    path = _checked_path(path)
    with _explained(path), tempfile.TemporaryFile(dir=path.parent):
        pass


def _checked_path(path: str | os.PathLike[str]) -> Path:
    path = Path(path)
    if path.is_dir():
        raise AnimationError(f"{path} is a folder: name a file in it, for example {path / 'animation.gif'}.")
    if path.suffix.lower() not in _WRITERS:
        raise AnimationError(f"cannot write {path}: the name must end in {' or '.join(_WRITERS)}.")
    if not path.parent.is_dir():
        raise AnimationError(f"cannot write {path}: the folder {path.parent} does not exist; create it first.")
    return path


def _checked_frames(frames: Any) -> np.ndarray:
    frames = np.asarray(frames)
    if frames.shape[:1] == (0,):
        raise AnimationError("there are no frames to save: an animation needs at least one.")
    if frames.ndim != 4 or frames.shape[-1] != 3 or not frames.size:
        raise AnimationError(f"frames must have shape (time, height, width, 3), got {frames.shape}.")
    if frames.dtype != np.uint8:
        raise AnimationError(f"frames must be uint8, levels from 0 to 255, got {frames.dtype}: convert them.")
    return frames


@contextlib.contextmanager
def _explained(path: Path) -> Generator[None]:
    """Turns the system's refusals into errors that say what to do."""
    try:
        yield
    except OSError as error:
        raise AnimationError(f"cannot write {path}: {error.strerror or error}; choose another place.") from error


def _write_gif(file: BinaryIO, frames: np.ndarray, fps: float) -> None:
    """One palette serves all frames, without dithering, and what stands still is not stored again: no flicker."""
    # A GIF counts hundredths of a second in 16 bits, and viewers slow down a frame that lasts only one of them.
    if not 0.01 <= fps <= 50:
        raise AnimationError(f"a GIF plays from 0.01 to 50 frames per second, got {fps}: leave frames out.")
    colours, index = _palette(frames)
    unchanged = len(colours)  # the index of a pixel that keeps its colour; the palette needs an entry for it
    palette = _bytes(np.append(colours, 0)).tobytes()
    first, *others = _images(index, frames, unchanged, palette)
    ends = np.round(100 / fps * np.arange(1, len(frames) + 1))  # rounded as a sum, so that errors do not add up
    first.save(
        file,
        format="GIF",
        save_all=True,
        append_images=others,
        palette=palette,
        transparency=unchanged,
        duration=(10 * np.diff(ends, prepend=0)).astype(int).tolist(),
        disposal=1,
        loop=0,
    )


def _palette(frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most 255 colours for all frames, and the index of a near one of them for every colour that occurs."""
    from PIL import Image

    occurs = np.zeros(1 << 24, np.bool_)
    for frame in frames:
        occurs[_words(frame)] = True
    present = chosen = np.flatnonzero(occurs)
    index = np.zeros(1 << 24, np.uint8)
    if len(present) > 255:
        colours, counts = np.unique(_words(frames[:: len(frames) // 8 + 1]), return_counts=True)
        frequent = colours[np.argsort(counts)[-16:]]  # large areas keep their exact colours
        sample = Image.fromarray(_bytes(present[None, :: len(present) // 32768 + 1]))
        blends = sample.quantize(239, Image.Quantize.MAXCOVERAGE)
        chosen = np.union1d(frequent, _words(np.asarray(blends.convert("RGB"))))
        palette = Image.new("P", (1, 1))
        palette.putpalette(_bytes(chosen).tobytes())
        nearest = Image.fromarray(_bytes(present[None])).quantize(palette=palette, dither=Image.Dither.NONE)
        index[present] = np.asarray(nearest)[0]
    index[chosen] = np.arange(len(chosen))
    return chosen, index


def _images(index: np.ndarray, frames: np.ndarray, unchanged: int, palette: bytes) -> Iterator[Any]:
    """The frames as images with a palette, in which `unchanged` stands for what is as it was in the frame before."""
    from PIL import Image

    before = None
    for frame in frames:
        now = index[_words(frame)]
        image = Image.fromarray(now if before is None else np.where(now == before, np.uint8(unchanged), now))
        image.putpalette(palette)
        yield image
        before = now


def _words(pixels: np.ndarray) -> np.ndarray:
    """Red, green and blue in one integer: from uint8 (..., 3) to int32 (...)."""
    red, green, blue = (pixels[..., i].astype(np.int32) for i in range(3))
    return (red << 16) | (green << 8) | blue


def _bytes(words: np.ndarray) -> np.ndarray:
    """The inverse of `_words`."""
    return (words[..., None] >> np.array([16, 8, 0]) & 255).astype(np.uint8)


_WRITERS: dict[str, Callable[[BinaryIO, np.ndarray, float], None]] = {".gif": _write_gif}
