"""Numbered lists of docstrings as tables: the elements of an observation, the channels of a picture, the actions.

Observation: float32 (n + 2,), where n is `num_arms`.
  0: the last reward
  1 to n: the last arm,
    one-hot
  n + 1: time
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
from envcore import spaces

_TERM = r"(?:\d*n|\d+)(?: [+-] \d+)?"
_NUMBERS = rf"{_TERM}(?: (?:to|and) {_TERM})?"
_ROW = re.compile(rf"( *)({_NUMBERS}): (.*)")
_NEXT = re.compile(rf", (?={_NUMBERS}: )")
_MOST = 200
"""The largest n that is tried."""

Rows = list[tuple[str, str]]
"""The numbers and the text of each row."""


def split(text: str) -> list[str | Rows]:
    """The paragraphs and the numbered lists of a text, in their order."""
    parts: list[str | Rows] = []
    indent = 0
    for line in text.splitlines():
        row, last = _ROW.fullmatch(line), parts[-1] if parts else None
        if row:
            indent = len(row[1])
            if not isinstance(last, list):
                parts.append(last := [])
            for each in _NEXT.split(line.strip()):
                numbers, _, meaning = each.partition(": ")
                last.append((numbers, meaning))
        elif isinstance(last, list) and line.strip() and not line[: indent + 1].strip():
            numbers, meaning = last.pop()
            last.append((numbers, f"{meaning} {line.strip()}"))
        elif isinstance(last, str):
            parts[-1] = f"{last}\n{line}"
        else:
            parts.append(line)
    return parts


def elements(rows: Rows, length: int) -> list[range] | None:
    """The elements that each row is about, if there is an n with which the rows have all of them once, in order."""
    for n in range(_MOST):
        ends = [_values(numbers, n) for numbers, _ in rows]
        found = [range(each[0], each[-1] + 1) for each in ends]
        if [element for each in found for element in each] == list(range(length)):
            return found
    return None


def ranges(rows: Rows, space: spaces.Space) -> list[str]:
    """The bounds of what each row is about, for a vector of numbers; [] for anything else."""
    if not isinstance(space, spaces.Box) or space.dtype == bool or space.shape[:-1] not in ((), (1,)):
        return []
    found = elements(rows, space.shape[-1]) if space.shape else None
    low, high = (np.broadcast_to(bound, space.shape).reshape(-1) for bound in (space.low, space.high))
    return [_range(low[each.start : each.stop], high[each.start : each.stop]) for each in found or ()]


def markdown(rows: Rows, heads: Sequence[str], *columns: Sequence[str]) -> list[str]:
    """The lines of a table. There is a head for the numbers, one for the texts, and one for each of the columns."""
    cells = zip(*zip(*rows, strict=True), *columns, strict=True)
    lines = [heads, ["---"] * len(heads), *cells]
    return [f"| {' | '.join(each.replace('|', '/') for each in line)} |" for line in lines]


def _values(numbers: str, n: int) -> list[int]:
    """The numbers that a row names: 0 and 5 for `0 to 2n - 1` if n is 3."""
    found: list[int] = []
    for term in re.split(" (?:to|and) ", numbers):
        first, *rest = term.split()
        number = int(first.removesuffix("n") or 1) * (n if first.endswith("n") else 1)
        found.append(number + int("".join(rest) or 0))
    return found


def _range(low: np.ndarray, high: np.ndarray) -> str:
    if not low.size:
        return "none, n is 0"
    least, most = float(low.min()), float(high.max())
    if math.isinf(least):
        return "unbounded" if math.isinf(most) else f"up to {most:.4g}"
    return f"from {least:.4g}" if math.isinf(most) else f"{least:.4g} to {most:.4g}"
