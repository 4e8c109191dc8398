"""GIF: at most 255 colors for all frames, frame times in hundredths of a second."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from envcore_viewer.animation.timing import durations

FPS = (0.01, 50)  # viewers slow down frames of one hundredth of a second
SIDE = 65535
_LONGEST = 600  # seconds that an image may last: frame times are 16-bit numbers


def write(file: BinaryIO, frames: np.ndarray, fps: float) -> None:
    """Writes with one palette for all frames, without dithering, and stores only pixels that change: no flicker."""
    colors, index = _palette(frames)
    unchanged = len(colors)  # the index for pixels that keep their color; the palette needs an entry for it
    palette = _bytes(np.append(colors, 0)).tobytes()
    first, *others = _images(index, frames, unchanged, palette, int(_LONGEST * fps))
    first.save(
        file,
        format="GIF",
        save_all=True,
        append_images=others,
        palette=palette,
        transparency=unchanged,
        duration=(10 * durations(len(frames), fps, 100)).tolist(),
        disposal=1,
        loop=0,
    )


def _palette(frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns at most 255 colors for all frames, and for every color that occurs the index of a similar one."""
    from PIL import Image

    occurs = np.zeros(1 << 24, np.bool_)
    for frame in frames:
        occurs[_words(frame)] = True
    present = chosen = np.flatnonzero(occurs)
    index = np.zeros(1 << 24, np.uint8)
    if len(present) > 255:
        colors, counts = np.unique(_words(frames[:: len(frames) // 8 + 1]), return_counts=True)
        frequent = colors[np.argsort(counts)[-16:]]  # large areas keep their exact colors
        sample = Image.fromarray(_bytes(present[None, :: len(present) // 32768 + 1]))
        blends = sample.quantize(239, Image.Quantize.MAXCOVERAGE)
        chosen = np.union1d(frequent, _words(np.asarray(blends.convert("RGB"))))
        palette = Image.new("P", (1, 1))
        palette.putpalette(_bytes(chosen).tobytes())
        nearest = Image.fromarray(_bytes(present[None])).quantize(palette=palette, dither=Image.Dither.NONE)
        index[present] = np.asarray(nearest)[0]
    index[chosen] = np.arange(len(chosen))
    return chosen, index


def _images(index: np.ndarray, frames: np.ndarray, unchanged: int, palette: bytes, every: int) -> Iterator[Any]:
    """The frames as palette images, in which the index `unchanged` marks pixels equal to those of the previous frame.

    Pillow merges equal images into one; in one of `every` images one pixel is stored anyway, which ends such a run.
    """
    from PIL import Image

    before = None
    for time, frame in enumerate(frames):
        now = index[_words(frame)]
        stored = now if before is None else np.where(now == before, np.uint8(unchanged), now)
        if time % every == 0:
            stored[0, 0] = now[0, 0]
        image = Image.fromarray(stored)
        image.putpalette(palette)
        yield image
        before = now


def _words(pixels: np.ndarray) -> np.ndarray:
    """Packs red, green and blue into one integer: from uint8 (..., 3) to int32 (...)."""
    red, green, blue = (pixels[..., i].astype(np.int32) for i in range(3))
    return (red << 16) | (green << 8) | blue


def _bytes(words: np.ndarray) -> np.ndarray:
    """The inverse of `_words`."""
    return (words[..., None] >> np.array([16, 8, 0]) & 255).astype(np.uint8)
