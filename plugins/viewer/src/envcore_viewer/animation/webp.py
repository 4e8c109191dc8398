"""WebP: lossless, frame times in milliseconds."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from envcore_viewer.animation.timing import durations

FPS = (0.01, 90)  # browsers slow down frames of ten milliseconds or less
SIDE = 16383


def write(file: BinaryIO, frames: np.ndarray, fps: float) -> None:
    """Stores only changes, losslessly."""
    from PIL import Image

    first, *others = map(Image.fromarray, frames)
    first.save(
        file,
        format="WEBP",
        save_all=True,
        append_images=others,
        lossless=True,
        quality=20,  # for lossless pictures this is the effort, like method: more takes four times as long
        method=1,
        duration=durations(len(frames), fps, 1000).tolist(),
        loop=0,
    )
