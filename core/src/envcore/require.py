"""Checks of param values, for an environment's `check_params`.

    def check_params(self, params):
        require.positive(params, "length", "masscart")
        require.between(params, 0, 1, "fail_prob")
        require.that(params, ("goal",), self._is_free, "row and column of a free cell")

Only Python and numpy values are checked, and relations between them and JAX arrays. JAX arrays alone always pass,
because their values may be traced, or not computed yet. Every element of an array must satisfy the requirement. NaN
never does. You don't need to check that numbers are finite: the engine does that for all params except those declared
with `envcore.environment.limit`.

Bound each param so that all observations are finite for every allowed value, with the other params at their defaults.
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
    """Raises `InvalidParamsError` unless the named params are positive, also in float32."""
    for name in names:
        that(params, (name,), lambda x: x >= _TINY, "positive")


def nonnegative(params: object, *names: str) -> None:
    """Raises `InvalidParamsError` unless the named params are at least 0."""
    for name in names:
        that(params, (name,), lambda x: x >= 0, "at least 0")


def between(params: object, low: float, high: float, *names: str) -> None:
    """Raises `InvalidParamsError` unless the named params are from `low` to `high`, both included."""
    for name in names:
        that(params, (name,), lambda x: (x >= low) & (x <= high), f"from {low} to {high}")


def moderate(params: object, *names: str) -> None:
    """Raises `InvalidParamsError` unless the named params are 0, or between 1e-12 and a million in magnitude.

    Use it for physical quantities: products and quotients of a few such numbers stay within float32. Other numbers
    could give infinity or NaN.
    """
    for name in names:
        that(params, (name,), _is_moderate, "0 or from 1e-12 to 1000000 in magnitude")


def ordered(params: object, low: str, high: str) -> None:
    """Raises `InvalidParamsError` unless the param `low` is at most the param `high`."""
    that(params, (low, high), lambda low, high: low <= high, f"at most {high}")


def below(params: object, low: str, high: str) -> None:
    """Raises `InvalidParamsError` unless the param `low` is below the param `high`, also in float32."""
    that(params, (low, high), lambda low, high: np.float32(low) < np.float32(high), f"below {high}")


def that(params: object, names: tuple[str, ...], holds: Callable[..., ArrayLike], text: str) -> None:
    """Raises `InvalidParamsError` unless the named params satisfy a condition.

    Args:
      params: an environment's params.
      names: names of the params. If all of them are JAX arrays, or one is traced, nothing is checked.
      holds: the condition, a function of their Python or numpy values that returns a bool or an array of bools.
      text: the requirement on the first param, for the message, such as "at least 0".
    """
    values = [getattr(params, name) for name in names]
    if not any(isinstance(value, _HOST) for value in values):
        return
    try:
        values = [_on_host(value) for value in values]
    except (jax.errors.TracerArrayConversionError, RuntimeError):  # traced, deleted, or on another process's devices
        return
    result = holds(*values)
    if not (result.all() if isinstance(result, np.ndarray) else result):
        with np.printoptions(threshold=20):
            got = " and ".join(" ".join(str(value).split()) for value in values)
        raise InvalidParamsError(f"{type(params).__name__}.{names[0]} must be {text}, got {got}.")


def _on_host(value: ArrayLike) -> np.ndarray:
    with np.errstate(over="ignore"):  # on the device, values are float32, so compare rounded ones
        value = np.asarray(value)
        return value.astype(np.float32) if value.dtype == np.float64 else value


def _is_moderate(x: FloatParam) -> ArrayLike:
    size = abs(x)
    return (size <= 1e6) & ((size >= 1e-12) | (size == 0))
