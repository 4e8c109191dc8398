"""Frames per second, and when frames end in the units that a format counts in."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def rate(fps: Any) -> float:
    """Frames per second as a float; NaN, which is in no range, for what is no number."""
    is_number = isinstance(fps, int | float | np.integer | np.floating) and not isinstance(fps, bool)
    return float(fps) if is_number else math.nan


def durations(count: int, fps: float, units: int) -> np.ndarray:
    """How long each of `count` frames lasts, in 1/units of a second, int (count,).

    Their ends are rounded, so that errors do not add up: at 30 fps and 100 units they last 3, 4 and 3 in turn.
    """
    return np.diff(np.round(units / fps * np.arange(count + 1))).astype(int)
