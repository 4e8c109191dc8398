"""What primitives make of numbers that are known already.

JAX compiles a program for each, in tens of milliseconds; numpy knows the frequent ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

_BY_NUMPY: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "and": np.bitwise_and,
    "eq": np.equal,
    "ge": np.greater_equal,
    "gt": np.greater,
    "le": np.less_equal,
    "lt": np.less,
    "mul": np.multiply,
    "ne": np.not_equal,
    "neg": np.negative,
    "not": np.invert,
    "or": np.bitwise_or,
    "sub": np.subtract,
    "xor": np.bitwise_xor,
}
_SHIFTS = {"shift_left": np.left_shift, "shift_right_logical": np.right_shift}


def results(equation: Any, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results of an equation."""
    with np.errstate(all="ignore"):
        found = _by_numpy(equation, inputs)
    if found is not None:
        return [np.asarray(found, equation.outvars[0].aval.dtype)]
    with jax.ensure_compile_time_eval():
        found = equation.primitive.bind(*inputs, **equation.params)
    return [np.asarray(x) for x in (found if equation.primitive.multiple_results else [found])]


def _by_numpy(equation: Any, inputs: Sequence[np.ndarray]) -> Any:
    name, aval, first = equation.primitive.name, equation.outvars[0].aval, inputs[0]
    if name in _BY_NUMPY:
        return _BY_NUMPY[name](*inputs)
    if name in _SHIFTS and first.dtype.kind == "u" and (inputs[1] < 8 * first.dtype.itemsize).all():
        return _SHIFTS[name](*inputs)
    if name == "convert_element_type" and (first.dtype.kind != "f" or aval.dtype.kind == "f"):
        return first.astype(aval.dtype)
    if name in ("reshape", "squeeze", "expand_dims"):
        return first.reshape(aval.shape)
    if name == "broadcast_in_dim":
        sizes = [1] * aval.ndim
        for size, axis in zip(first.shape, equation.params["broadcast_dimensions"], strict=True):
            sizes[axis] = size
        return np.broadcast_to(first.reshape(sizes), aval.shape)
    if name == "select_n" and first.dtype == bool:
        return np.where(first, inputs[2], inputs[1])
    return None
