"""Frames per second, and when frames end in the units that a format counts in."""

from __future__ import annotations

import contextlib
import math
import reprlib
from typing import Any

import numpy as np


def rate(fps: Any) -> float:
    """Frames per second as a float; NaN, which is in no range, for what is no number."""
    with contextlib.suppress(OverflowError):
        return float(fps) if _is_number(fps) else math.nan
    return math.inf


def shown(fps: Any) -> str:
    """Frames per second as a message of one line shows them, whatever was given."""
    return str(fps) if _is_number(fps) else " ".join(reprlib.repr(fps).split())


def _is_number(fps: Any) -> bool:
    return isinstance(fps, int | float | np.integer | np.floating) and not isinstance(fps, bool)


def durations(count: int, fps: float, units: int) -> np.ndarray:
    """How long each of `count` frames lasts, in 1/units of a second, int (count,).

    Their ends are rounded, so that errors do not add up: at 30 fps and 100 units they last 3, 4 and 3 in turn.
    """
    return np.diff(np.round(units / fps * np.arange(count + 1))).astype(int)
