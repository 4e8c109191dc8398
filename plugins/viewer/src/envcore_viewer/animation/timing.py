"""Frame rates, and frame times in the units of a format."""

from __future__ import annotations

import contextlib
import math
import reprlib
from typing import Any

import numpy as np


def fps_as_float(fps: Any) -> float:
    """Returns frames per second as a float; NaN, which is outside every range, for anything but a number."""
    with contextlib.suppress(OverflowError):
        return float(fps) if _is_number(fps) else math.nan
    return math.inf


def format_fps(fps: Any) -> str:
    """Formats frames per second for an error message on one line, whatever was given."""
    return str(fps) if _is_number(fps) else " ".join(reprlib.repr(fps).split())


def _is_number(fps: Any) -> bool:
    return isinstance(fps, int | float | np.integer | np.floating) and not isinstance(fps, bool)


def durations(count: int, fps: float, units: int) -> np.ndarray:
    """The duration of each of `count` frames, in 1/units of a second, int (count,).

    The ends of frames are rounded, so that errors do not accumulate: at 30 fps and 100 units they last 3, 4, 3, ...
    """
    return np.diff(np.round(units / fps * np.arange(count + 1))).astype(int)
