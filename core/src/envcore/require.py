"""What an environment's `check_params` may demand of the values of params.

    def check_params(self, params):
        require.positive(params, "length", "masscart")
        require.between(params, 0, 1, "fail_prob")
        require.that(params, ("goal",), self._is_free, "row and column of a free cell")

Only Python and numpy values are looked at: what a JAX array holds may be traced, or still being computed, and passes.
Of arrays every element has to hold. Not a number is refused everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from envcore.errors import InvalidParamsError

_HOST = (int, float, np.ndarray, np.generic)


def positive(params: Any, *names: str) -> None:
    """The params called `names` are above 0, or `InvalidParamsError` is raised."""
    for name in names:
        that(params, (name,), lambda x: x > 0, "positive")


def nonnegative(params: Any, *names: str) -> None:
    """The params called `names` are at least 0, or `InvalidParamsError` is raised."""
    for name in names:
        that(params, (name,), lambda x: x >= 0, "at least 0")


def between(params: Any, low: float, high: float, *names: str) -> None:
    """The params called `names` are from `low` to `high`, both included, or `InvalidParamsError` is raised."""
    for name in names:
        that(params, (name,), lambda x: (x >= low) & (x <= high), f"from {low} to {high}")


def ordered(params: Any, low: str, high: str) -> None:
    """The param called `low` is at most the one called `high`, or `InvalidParamsError` is raised."""
    that(params, (low, high), lambda low, high: low <= high, f"at most {high}")


def that(params: Any, names: tuple[str, ...], holds: Callable[..., Any], text: str) -> None:
    """Raises `InvalidParamsError` where what the params called `names` are is not what it must be.

    Args:
      params: an environment's params.
      names: of their fields. If any of these is a JAX array, nothing is checked.
      holds: takes their values, Python or numpy, and returns a bool or an array of them.
      text: what the first of them must be, for the message: "at least 0".
    """
    values = [getattr(params, name) for name in names]
    for value in values:
        if not isinstance(value, _HOST):
            return
    result = holds(*values)
    if not (result.all() if isinstance(result, np.ndarray) else result):
        got = " and ".join(str(value) for value in values)
        raise InvalidParamsError(f"{type(params).__name__}.{names[0]} must be {text}, got {got}.")
