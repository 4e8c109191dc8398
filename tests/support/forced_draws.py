"""Random draws that are forced on the original environments, in place of numpy's."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from lockstep import SPACING

Calls = list[tuple[str, Any]]
"""The methods of `numpy.random.RandomState` that the original calls, in order, with their results."""


class ForcedDraws:
    """Replaces the original's RandomState, and returns the given draws for the next reset or step."""

    def __init__(self) -> None:
        self.calls: deque[tuple[str, Any]] = deque()

    def giving(self, calls: Calls) -> ForcedDraws:
        """Sets the next calls, all of which must happen before the end of the `with` block."""
        self.calls.extend(calls)
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        assert kind is not None or not self.calls, f"not drawn: {list(self.calls)}"

    def rand(self) -> float:
        return self._next("rand", 0.0, 1.0)

    def randn(self) -> float:
        return self._next("randn", -np.inf, np.inf)

    def uniform(self, low: float, high: float) -> float:
        slack = SPACING * np.pi  # an offset from pi is read from a rounded sum
        return self._next("uniform", low - slack, high + slack)

    def randint(self, high: int) -> int:
        return int(self._next("randint", 0, high - 1))

    def binomial(self, n: int, p: float, size: int | None = None) -> Any:
        assert (n, p) == (1, 0.5)
        value = self._next("binomial", 0, 1)
        assert np.shape(value) == (() if size is None else (size,))
        return int(value) if size is None else value

    def _next(self, name: str, low: float, high: float) -> Any:
        expected, value = self.calls.popleft()
        assert name == expected
        assert np.all((value >= low) & (value <= high)), f"{name} gave {value}, not from {low} to {high}"
        return value
