"""Frames for tests of animations, and what a file shows of them."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageSequence

COLORS = np.array([[246, 244, 239], [208, 66, 61], [0, 0, 0], [255, 255, 255], [0, 0, 1]], np.uint8)


def confetti(count, height=12, width=20):
    """Frames of few colors in which everything changes."""
    return COLORS[np.random.default_rng(0).integers(0, len(COLORS), (count, height, width))]


def ball(count, size=64):
    """A soft-edged red ball that crosses a background of two colors: far more than 256 colors in all."""
    y, x = np.mgrid[:size, :size] / size
    ground = np.where(y[..., None] < 0.6, COLORS[0], COLORS[2]).astype(float)
    places = np.linspace(0.2, 0.8, count)
    coverage = [np.clip(4 - 20 * np.hypot(x - place, y - 0.5), 0, 1)[..., None] for place in places]
    return np.stack([ground + share * (COLORS[1] - ground) for share in coverage]).astype(np.uint8)


def read(path):
    """The frames as (time, height, width, 3), and their durations in milliseconds."""
    with Image.open(path) as image:
        frames = [(np.asarray(frame.convert("RGB")), frame.info["duration"]) for frame in ImageSequence.Iterator(image)]
    return np.stack([pixels for pixels, _ in frames]), [duration for _, duration in frames]


def extent(path):
    """The number of frames, and their width and height."""
    with Image.open(path) as image:
        return getattr(image, "n_frames", 1), image.size
