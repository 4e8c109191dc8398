"""Checks of counts: of options that fix a shape, and of numbers of steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def positive_integer(
    name: str, value: Any, error: Callable[[str], Exception] = ValueError, *, at_most: int | None = None
) -> int:
    """Returns the value as an int.

    Args:
      name: its name in the error message.
      value: any object.
      error: of what is raised if the value is not a positive integer or too large: its class, or what makes it.
      at_most: the largest allowed value; None for no limit.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise error(f"{name} must be a positive integer, got {value!r}")
    if at_most is not None and value > at_most:
        raise error(f"{name} must be at most {at_most:,}, got {value!r}")
    return int(value)


def check_size(name: str, value: Any, at_most: int = 2**24) -> None:
    """Raises `ValueError` if an option, which sets how large arrays are, is above `at_most`."""
    if value > at_most:
        raise ValueError(f"{name} must be at most {at_most:,}, got {value!r}")
