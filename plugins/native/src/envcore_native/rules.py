"""What each primitive computes: arrays of scalars from arrays of scalars, one rule a primitive."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax import lax

from envcore_native.keys import Key
from envcore_native.scalars import Graph, Scalar

RULES: dict[str, Callable[..., Any]] = {}


class TooManyError(Exception):
    """A primitive would become more code than a kernel should have; the message says of how many elements."""


_SAME_NAME = """
    add sub mul div rem max min and or xor not neg eq ne lt le gt ge shift_left shift_right_logical abs sign floor ceil
    shift_right_arithmetic sqrt rsqrt exp expm1 log log1p sin cos tan tanh pow atan2 is_finite population_count
    erf_inv logistic
"""


def array_of(value: Any, shape: tuple[int, ...]) -> np.ndarray:
    if isinstance(value, np.ndarray) and value.shape == shape:
        return value
    result = np.empty(shape, object)
    result[...] = value
    return result


def each(fun: Callable[..., Scalar], *arrays: np.ndarray) -> Any:
    return np.frompyfunc(fun, len(arrays), 1)(*arrays)


def is_equal(graph: Graph, scalar: Scalar, number: int) -> Scalar:
    if scalar.is_constant:
        return graph.constant(scalar.args[0] == number, bool)
    return graph.apply("op_eq", bool, scalar, graph.constant(number, scalar.dtype))


def same(graph: Graph, a: Scalar, b: Scalar) -> Scalar:
    return graph.constant(True, bool) if a is b else graph.apply("op_eq", bool, a, b)


def select(graph: Graph, which: Scalar, no: Any, yes: Any) -> Any:
    if isinstance(no, Key):
        return Key(tuple(select(graph, which, *words) for words in zip(no.words, yes.words, strict=True)))
    if which.is_constant:
        return yes if which.args[0] else no
    # A network's layer finds the byte before a conversion, which needs less shared memory.
    if no.dtype != bool and no is graph.constant(0, no.dtype) and yes is graph.constant(1, no.dtype):
        return graph.apply("op_convert", no.dtype, no.dtype, which)
    return no if no is yes else graph.apply("op_select", no.dtype, which, no, yes)


def elementwise(op: str) -> Callable[..., Any]:
    def rule(graph: Graph, aval: Any, *arrays: np.ndarray, **params: Any) -> Any:
        return each(lambda *scalars: graph.apply(op, aval.dtype, *scalars), *arrays)

    return rule


def rule(fun: Callable[..., Any]) -> Callable[..., Any]:
    RULES[fun.__name__.strip("_")] = fun
    return fun


for _name in _SAME_NAME.split():
    RULES[_name] = elementwise(f"op_{_name}")


@rule
def _convert_element_type(graph: Graph, aval: Any, x: np.ndarray, **params: Any) -> Any:
    def convert(scalar: Scalar) -> Scalar:
        if scalar.dtype == aval.dtype:
            return scalar
        is_truncated = scalar.dtype.kind == "f" and aval.dtype.kind in "iu"
        return graph.apply("op_truncate" if is_truncated else "op_convert", aval.dtype, aval.dtype, scalar)

    return each(convert, x)


@rule
def _bitcast_convert_type(graph: Graph, aval: Any, x: np.ndarray, **params: Any) -> Any:
    return each(lambda scalar: graph.apply("op_bitcast", aval.dtype, aval.dtype, scalar), x)


@rule
def _round(graph: Graph, aval: Any, x: np.ndarray, *, rounding_method: Any) -> Any:
    is_even = rounding_method == lax.RoundingMethod.TO_NEAREST_EVEN
    return elementwise("op_round_even" if is_even else "op_round_away")(graph, aval, x)


@rule
def _integer_pow(graph: Graph, aval: Any, x: np.ndarray, *, y: int) -> Any:
    multiply, power, square = elementwise("op_mul"), None, x
    for bit in reversed(bin(abs(y))[2:]):
        if bit == "1":
            power = square if power is None else multiply(graph, aval, power, square)
        square = multiply(graph, aval, square, square)
    one = graph.array(np.ones(aval.shape, aval.dtype))
    power = one if power is None else power
    return elementwise("op_div")(graph, aval, one, power) if y < 0 else power


@rule
def _square(graph: Graph, aval: Any, x: np.ndarray) -> Any:
    return elementwise("op_mul")(graph, aval, x, x)


@rule
def _select_n(graph: Graph, aval: Any, which: np.ndarray, *cases: np.ndarray) -> Any:
    if which.flat[0].dtype == bool:
        return each(functools.partial(select, graph), which, *cases)
    chosen = cases[0]
    for number, case in enumerate(cases[1:], 1):
        chosen = each(lambda i, no, yes: select(graph, is_equal(graph, i, number), no, yes), which, chosen, case)  # noqa: B023
    return chosen


@rule
def _clamp(graph: Graph, aval: Any, low: np.ndarray, x: np.ndarray, high: np.ndarray) -> Any:
    return elementwise("op_min")(graph, aval, elementwise("op_max")(graph, aval, low, x), high)


@rule
def _axis_index(graph: Graph, aval: Any, **params: Any) -> Scalar:
    return graph.input("number", np.int32)


@rule
def _copy(graph: Graph, aval: Any, x: np.ndarray) -> Any:
    return x


RULES["copy_p"] = RULES["stop_gradient"] = _copy


@rule
def _iota(graph: Graph, aval: Any, *, dtype: Any, shape: Any, dimension: int, sharding: Any) -> Any:
    return graph.array(
        np.broadcast_to(
            np.expand_dims(np.arange(shape[dimension], dtype=dtype), [i for i in range(len(shape)) if i != dimension]),
            shape,
        )
    )


# Shapes.


@rule
def _reshape(graph: Graph, aval: Any, x: np.ndarray, **params: Any) -> Any:
    return x.reshape(aval.shape)


RULES["squeeze"] = RULES["expand_dims"] = _reshape


@rule
def _broadcast_in_dim(
    graph: Graph, aval: Any, x: np.ndarray, *, shape: Any, broadcast_dimensions: Any, sharding: Any
) -> Any:
    sizes = [1] * len(shape)
    for size, dimension in zip(x.shape, broadcast_dimensions, strict=True):
        sizes[dimension] = size
    return np.broadcast_to(x.reshape(sizes), shape)


@rule
def _slice(graph: Graph, aval: Any, x: np.ndarray, *, start_indices: Any, limit_indices: Any, strides: Any) -> Any:
    strides = strides or (1,) * x.ndim
    return x[tuple(itertools.starmap(slice, zip(start_indices, limit_indices, strides, strict=True)))]


@rule
def _transpose(graph: Graph, aval: Any, x: np.ndarray, *, permutation: Any) -> Any:
    return x.transpose(permutation)


@rule
def _rev(graph: Graph, aval: Any, x: np.ndarray, *, dimensions: Any) -> Any:
    return np.flip(x, dimensions)


@rule
def _concatenate(graph: Graph, aval: Any, *parts: np.ndarray, dimension: int) -> Any:
    return np.concatenate(parts, dimension)


@rule
def _stack(graph: Graph, aval: Any, *parts: np.ndarray, **params: Any) -> Any:
    (axis,) = params.values()
    return np.stack(parts, axis)


@rule
def _split(graph: Graph, aval: Any, x: np.ndarray, *, sizes: Sequence[int], axis: int) -> Any:
    return np.split(x, np.cumsum(sizes)[:-1], axis)


@rule
def _unstack(graph: Graph, aval: Any, x: np.ndarray, *, axis: int) -> Any:
    return [array_of(part, aval.shape) for part in np.moveaxis(x, axis, 0)]


@rule
def _pad(graph: Graph, aval: Any, x: np.ndarray, value: np.ndarray, *, padding_config: Any) -> Any:
    result = np.full(aval.shape, value[()], object)
    for index in np.ndindex(x.shape):
        place = tuple(low + i * (inner + 1) for i, (low, _, inner) in zip(index, padding_config, strict=True))
        if all(0 <= i < size for i, size in zip(place, aval.shape, strict=True)):
            result[place] = x[index]
    return result
