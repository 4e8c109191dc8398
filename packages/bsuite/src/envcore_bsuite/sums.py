"""Compensated sums of many float32 numbers."""

from __future__ import annotations

import jax


def add(total: jax.Array, excess: jax.Array, term: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Adds a term to a compensated sum (Kahan 1965, "Further remarks on reducing truncation errors").

    Args:
      total: float32, the sum so far.
      excess: float32, the amount by which rounding has made `total` too large, 0 at the start.
      term: float32, the number to add.

    Returns:
      The new total and its excess. Their difference in float64 is the sum to about 14 digits.
    """
    term = term - excess
    new = total + term
    return new, (new - total) - term
