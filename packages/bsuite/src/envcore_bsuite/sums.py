"""Compensated sums of many float32 numbers."""

from __future__ import annotations

from typing import Any


def add(total: Any, excess: Any, term: Any) -> tuple[Any, Any]:
    """Adds a term to a compensated sum (Kahan 1965, "Further remarks on reducing truncation errors").

    Args:
      total: float32, the sum so far.
      excess: float32, the amount by which rounding has made `total` too large; 0 at the start.
      term: float32, what to add.

    Returns:
      The new total and its excess; their difference in float64 is the sum to about 14 digits.
    """
    term = term - excess
    new = total + term
    return new, (new - total) - term
