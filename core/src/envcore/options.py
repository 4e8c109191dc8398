"""Checks of options: plain Python values that fix a shape or the program."""

from __future__ import annotations

import numbers
from collections.abc import Callable

import numpy as np

_FLOAT32 = np.finfo(np.float32)


def positive_integer(
    name: str, value: object, error: Callable[[str], Exception] = ValueError, *, at_most: int | None = None
) -> int:
    """Returns the value as an int.

    Args:
      name: its name in the error message.
      value: any object.
      error: the exception class, or a function from the message to an exception.
      at_most: the largest allowed value; None for no limit.

    Raises:
      the exception of `error`: the value is not a positive integer, or is too large.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise error(f"{name} must be a positive integer, got {value!r}")
    if at_most is not None and value > at_most:
        raise error(f"{name} must be at most {at_most:,}, got {value!r}")
    return int(value)


def check_size(name: str, value: float, at_most: int = 2**24) -> None:
    """Checks an option that sets how large arrays are.

    Args:
      name: its name in the error message.
      value: a number.
      at_most: the most elements that make sense.

    Raises:
      ValueError: it is larger.
    """
    if value > at_most:
        raise ValueError(f"{name} must be at most {at_most:,}, got {value!r}")


def finite_number(name: str, value: object) -> float:
    """Returns the value as a float.

    Raises:
      ValueError: it is not a Python or numpy number, or not finite in float32. JAX arrays cannot be hashed.
    """
    try:
        number = float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else np.nan
    except OverflowError:  # an integer of hundreds of digits, which the message does not repeat
        raise ValueError(f"{name} must be a finite Python or numpy number, got one beyond float64") from None
    if not abs(number) <= float(_FLOAT32.max):
        raise ValueError(f"{name} must be a finite Python or numpy number, got {value!r}")
    return number


def positive_number(name: str, value: object) -> float:
    """Returns the value as a float.

    Raises:
      ValueError: it is not a finite number above 0; numbers that float32 flushes to 0 are refused too.
    """
    number = finite_number(name, value)
    if number < float(_FLOAT32.tiny):
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    return number


def flag(name: str, value: object) -> bool:
    """Returns the value as a bool.

    Raises:
      ValueError: it is not a bool.
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)
