"""Requirements on the values of params, for an environment's `check_params`.

    def check_params(self, params):
        require.positive(params, "length", "masscart")
        require.between(params, 0, 1, "fail_prob")
        require.that(params, ("goal",), self._is_free, "row and column of a free cell")

Only Python and numpy values are checked, and what relates one of them to JAX arrays. JAX arrays alone always pass:
their values may be traced, or not computed yet. In an array every element must satisfy the requirement. NaN never
does. That all numbers are finite need not be required: the engine checks it, except of a param declared by
`envcore.environment.limit`.

Bound each param so that all observations are finite at any value that it may have, with all others at their defaults.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import numpy as np
from jax.typing import ArrayLike

from envcore.errors import InvalidParamsError
from envcore.typing import FloatParam

_HOST = (int, float, np.ndarray, np.generic)
_TINY = float(np.finfo(np.float32).tiny)


def positive(params: object, *names: str) -> None:
    """Raises `InvalidParamsError` unless the params called `names` are above 0, in float32 too."""
    for name in names:
        that(params, (name,), lambda x: x >= _TINY, "positive")


def nonnegative(params: object, *names: str) -> None:
    """Raises `InvalidParamsError` unless the params called `names` are at least 0."""
    for name in names:
        that(params, (name,), lambda x: x >= 0, "at least 0")


def between(params: object, low: float, high: float, *names: str) -> None:
    """Raises `InvalidParamsError` unless the params called `names` are from `low` to `high`, both included."""
    for name in names:
        that(params, (name,), lambda x: (x >= low) & (x <= high), f"from {low} to {high}")


def moderate(params: object, *names: str) -> None:
    """Raises `InvalidParamsError` unless the params called `names` are 0 or of a size from 1e-12 to a million.

    For numbers of physics: products and quotients of a few of them stay within float32, others become infinite or NaN.
    """
    for name in names:
        that(params, (name,), _is_moderate, "0 or of a size from 1e-12 to 1000000")


def ordered(params: object, low: str, high: str) -> None:
    """Raises `InvalidParamsError` unless the param called `low` is at most the one called `high`."""
    that(params, (low, high), lambda low, high: low <= high, f"at most {high}")


def below(params: object, low: str, high: str) -> None:
    """Raises `InvalidParamsError` unless the param called `low` is below the one called `high`, in float32 too."""
    that(params, (low, high), lambda low, high: np.float32(low) < np.float32(high), f"below {high}")


def that(params: object, names: tuple[str, ...], holds: Callable[..., ArrayLike], text: str) -> None:
    """Raises `InvalidParamsError` unless the values of the params called `names` satisfy a condition.

    Args:
      params: an environment's params.
      names: field names. If all of the fields are JAX arrays, or one is traced, nothing is checked.
      holds: the condition: a function of their values, Python or numpy, that returns a bool or an array of bools.
      text: what the first of them must be, for the message: "at least 0".
    """
    values = [getattr(params, name) for name in names]
    if not any(isinstance(value, _HOST) for value in values):
        return
    try:
        values = [_on_host(value) for value in values]
    except (jax.errors.TracerArrayConversionError, RuntimeError):  # traced, deleted, or on another process' devices
        return
    result = holds(*values)
    if not (result.all() if isinstance(result, np.ndarray) else result):
        with np.printoptions(threshold=20):
            got = " and ".join(" ".join(str(value).split()) for value in values)
        raise InvalidParamsError(f"{type(params).__name__}.{names[0]} must be {text}, got {got}.")


def _on_host(value: ArrayLike) -> np.ndarray:
    with np.errstate(over="ignore"):  # a float of 64 bits would differ from that on the device by rounding
        value = np.asarray(value)
        return value.astype(np.float32) if value.dtype == np.float64 else value


def _is_moderate(x: FloatParam) -> ArrayLike:
    size = abs(x)
    return (size <= 1e6) & ((size >= 1e-12) | (size == 0))
