"""Checks of plain Python values: of the options that fix a shape or the program, and of counts."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

_FLOAT32 = np.finfo(np.float32)


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


def finite_number(name: str, value: Any) -> float:
    """Returns the value as a float.

    Raises:
      ValueError: it is not a Python or numpy number, or not finite in float32. JAX arrays cannot be hashed.
    """
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else np.nan
    except OverflowError:  # an integer of hundreds of digits, which the message does not repeat
        raise ValueError(f"{name} must be a finite Python or numpy number, got one beyond float64") from None
    if not abs(number) <= float(_FLOAT32.max):
        raise ValueError(f"{name} must be a finite Python or numpy number, got {value!r}")
    return number


def positive_number(name: str, value: Any) -> float:
    """Returns the value as a float, and raises `ValueError` unless it is finite and above 0, in float32 too."""
    if finite_number(name, value) < float(_FLOAT32.tiny):
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    return float(value)


def flag(name: str, value: object) -> bool:
    """Returns the value as a bool, and raises `ValueError` if it is not one."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)
