"""Checks of positive integers, such as sizes and numbers of steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def positive_integer(
    name: str, value: Any, error: Callable[[str], Exception] = ValueError, *, at_most: int | None = None
) -> int:
    """Checks that a value is a positive integer, and returns it as an int.

    Args:
      name: name of the value in the error message.
      value: any object.
      error: exception class, or a function that makes the exception from its message. It is raised if the value is not
        a positive integer or is too large.
      at_most: largest allowed value, or None for no limit.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise error(f"{name} must be a positive integer, got {value!r}")
    if at_most is not None and value > at_most:
        raise error(f"{name} must be at most {at_most:,}, got {value!r}")
    return int(value)
