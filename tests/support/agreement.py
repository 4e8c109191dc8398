"""Compares the results of many steps of two implementations: exactly, or up to float32 rounding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from lockstep import ROUNDINGS, SPACING

Fields = Mapping[str, np.ndarray]
"""Arrays (N, ...) by name, with one row per step."""


def check_agreement(ours: Fields, theirs: Fields, sizes: Mapping[str, np.ndarray]) -> int:
    """Compares results by name, exactly if the original's are integers or bools.

    Args:
      ours, theirs: the results, under the same names.
      sizes: for rounded results, the size of the numbers that were added to compute them; by default their own size,
        but at least 1 for "obs". They may differ by `ROUNDINGS` times the spacing of float32 numbers of that size.
        The entry "undecided", bool (N,), marks rows that may differ arbitrarily.

    Returns:
      The number of undecided rows that differ.

    Raises:
      AssertionError: a decided row differs.
    """
    assert set(ours) == set(theirs), set(ours) ^ set(theirs)
    differs = {name: _differs(ours[name], theirs[name], sizes.get(name), name) for name in theirs}
    any_differs = np.any(list(differs.values()), axis=0)
    wrong = any_differs & ~sizes.get("undecided", np.zeros_like(any_differs))
    if wrong.any():
        row = np.flatnonzero(wrong)[0]
        lines = [f"{wrong.sum()} of {len(wrong)} rows differ; row {row}:"]
        for name, value in theirs.items():
            mark = "  <-- differs" if differs[name][row] else ""
            lines.append(f"  {name}: {np.asarray(ours[name])[row]}, original {value[row]}{mark}")
        raise AssertionError("\n".join(lines))
    return int(any_differs.sum())


def _differs(ours: Any, theirs: np.ndarray, size: np.ndarray | None, name: str) -> np.ndarray:
    ours = np.asarray(ours)
    assert ours.shape == theirs.shape, name
    if theirs.dtype.kind in "biu":
        wrong = ours != theirs
    else:
        if size is None:
            size = np.maximum(np.abs(theirs), 1) if name == "obs" else np.abs(theirs)
        wrong = ~(np.abs(ours.astype(np.float64) - theirs) <= ROUNDINGS * SPACING * size)
    return wrong.reshape(len(wrong), -1).any(axis=1)
