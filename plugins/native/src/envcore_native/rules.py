"""What each primitive computes: arrays from arrays, one rule a primitive."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax import lax

from envcore_native.arrays import Array, Dense, Index, both, constants, each_of, is_equal, select
from envcore_native.scalars import Graph, Scalar

RULES: dict[str, Callable[..., Any]] = {}


class TooManyError(Exception):
    """A primitive would become more code than a program should have; the message says of how many elements."""


_SAME_NAME = """
    add sub mul div rem max min and or xor not neg eq ne lt le gt ge shift_left shift_right_logical abs sign floor ceil
    shift_right_arithmetic sqrt rsqrt exp expm1 log log1p sin cos tan tanh pow atan atan2 is_finite population_count
    erf_inv logistic
"""


def each(graph: Graph, aval: Any, fun: Callable[..., Any], *arrays: Array) -> Array:
    """`fun` of the scalars at each index; an axis of length 1, or an array of shape (), goes with every index."""
    if graph.most_unrolled is None and all(isinstance(x, Dense) for x in arrays):
        found = each_of(fun, *(x.scalars() for x in arrays))
        return Dense(graph, filled(found, aval.shape))
    inner = [x.reshaped for x in arrays if x.ndim]
    shape = inner[0].shape if inner and inner[0] else None
    if shape and all(x and x.shape == shape for x in inner):  # in the order in which one loop can go through it
        flat = each(graph, _Shaped(shape), fun, *((x.reshaped or x) if x.ndim else x for x in arrays))
        return reshaped(graph, flat, aval.shape)
    reads = [_reader(x, aval.shape) for x in arrays]
    return Array(graph, aval.shape, lambda index: fun(*[read(index) for read in reads]))


def _reader(x: Array, shape: tuple[int, ...]) -> Callable[[Index], Any]:
    if x.shape == shape:
        return x.at
    return lambda index: x.at(tuple(0 if size == 1 else i for i, size in zip(index, x.shape, strict=False)))


def filled(value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """The value as an array of scalars of that shape."""
    if isinstance(value, np.ndarray) and value.shape == shape:
        return value
    result = np.empty(shape, object)
    result[...] = value
    return result


def elementwise(op: str) -> Callable[..., Array]:
    def rule(graph: Graph, aval: Any, *arrays: Array, **params: Any) -> Array:
        return each(graph, aval, lambda *scalars: graph.apply(op, aval.dtype, *scalars), *arrays)

    return rule


def rule(fun: Callable[..., Any]) -> Callable[..., Any]:
    RULES[fun.__name__.strip("_")] = fun
    return fun


for _name in _SAME_NAME.split():
    RULES[_name] = elementwise(f"op_{_name}")
RULES["add_any"] = RULES["add"]


def convert(graph: Graph, dtype: np.dtype, scalar: Scalar) -> Scalar:
    if scalar.dtype == dtype:
        return scalar
    is_truncated = scalar.dtype.kind == "f" and dtype.kind in "iu"
    return graph.apply("op_truncate" if is_truncated else "op_convert", dtype, dtype, scalar)


@rule
def _convert_element_type(graph: Graph, aval: Any, x: Array, **params: Any) -> Array:
    return each(graph, aval, lambda scalar: convert(graph, aval.dtype, scalar), x)


@rule
def _bitcast_convert_type(graph: Graph, aval: Any, x: Array, **params: Any) -> Array:
    def cast(scalar: Scalar, dtype: Any) -> Scalar:
        return scalar if scalar.dtype == dtype else graph.apply("op_bitcast", dtype, np.dtype(dtype), scalar)

    if x.shape == aval.shape:
        return each(graph, aval, lambda scalar: cast(scalar, aval.dtype), x)

    # A last axis has the parts of a word, the lowest first.
    def part(index: Index) -> Scalar:
        word = cast(x.at(index[:-1]), np.uint32)
        shift = _affine(graph, index[-1:], [(0, 8 * aval.dtype.itemsize)])[0]
        shift = graph.constant(shift, np.uint32) if isinstance(shift, int) else cast(shift, np.uint32)
        word = graph.apply("op_shift_right_logical", np.uint32, word, shift)
        return graph.apply("op_convert", aval.dtype, aval.dtype, word)

    def whole(index: Index) -> Scalar:
        word, size = graph.constant(0, np.uint32), 32 // x.shape[-1]
        for place in range(x.shape[-1]):
            piece = graph.apply("op_convert", np.uint32, np.dtype(np.uint32), x.at((*index, place)))
            shifted = graph.apply("op_shift_left", np.uint32, piece, graph.constant(size * place, np.uint32))
            word = graph.apply("op_or", np.uint32, word, shifted)
        return cast(word, aval.dtype)

    return Array(graph, aval.shape, part if len(aval.shape) > x.ndim else whole)


@rule
def _round(graph: Graph, aval: Any, x: Array, *, rounding_method: Any) -> Array:
    is_even = rounding_method == lax.RoundingMethod.TO_NEAREST_EVEN
    return elementwise("op_round_even" if is_even else "op_round_away")(graph, aval, x)


@rule
def _integer_pow(graph: Graph, aval: Any, x: Array, *, y: int) -> Array:
    def power_of(base: Scalar) -> Scalar:
        def multiply(a: Scalar, b: Scalar) -> Scalar:
            return graph.apply("op_mul", aval.dtype, a, b)

        power, square, one = None, base, graph.constant(1, aval.dtype)
        for bit in reversed(bin(abs(y))[2:]):
            if bit == "1":
                power = square if power is None else multiply(power, square)
            square = multiply(square, square)
        power = one if power is None else power
        return graph.apply("op_div", aval.dtype, one, power) if y < 0 else power

    return each(graph, aval, power_of, x)


@rule
def _square(graph: Graph, aval: Any, x: Array) -> Array:
    return each(graph, aval, lambda scalar: graph.apply("op_mul", aval.dtype, scalar, scalar), x)


@rule
def _select_n(graph: Graph, aval: Any, which: Array, *cases: Array) -> Array:
    def choose(which: Scalar, *cases: Any) -> Any:
        if which.dtype == bool:
            return select(graph, which, *cases)
        chosen = cases[0]
        for number, case in enumerate(cases[1:], 1):
            chosen = select(graph, is_equal(graph, which, number), chosen, case)
        return chosen

    return each(graph, aval, choose, which, *cases)


@rule
def _clamp(graph: Graph, aval: Any, low: Array, x: Array, high: Array) -> Array:
    def clamp(low: Scalar, x: Scalar, high: Scalar) -> Scalar:
        return graph.apply("op_min", aval.dtype, graph.apply("op_max", aval.dtype, low, x), high)

    return each(graph, aval, clamp, low, x, high)


@rule
def _axis_index(graph: Graph, aval: Any, **params: Any) -> Array:
    return Dense(graph, filled(graph.input("number", np.int32), ()))


@rule
def _copy(graph: Graph, aval: Any, x: Array) -> Array:
    return x


RULES["copy_p"] = RULES["stop_gradient"] = _copy


@rule
def _iota(graph: Graph, aval: Any, *, dtype: Any, shape: Any, dimension: int, sharding: Any) -> Array:
    numbers = constants(graph, np.arange(shape[dimension], dtype=dtype))
    return view(graph, aval, lambda index: numbers.at((index[dimension],)))


# Shapes.


def view(graph: Graph, aval: Any, get: Callable[[Index], Any]) -> Array:
    """An array of elements of others."""
    return Array(graph, aval.shape, get, computes=False)


@rule
def _reshape(graph: Graph, aval: Any, x: Array, **params: Any) -> Array:
    return reshaped(graph, x, aval.shape)


def reshaped(graph: Graph, x: Array, shape: tuple[int, ...]) -> Array:
    """The array in another shape."""
    x = x.reshaped or x
    groups = list(_same_elements(x.shape, shape))

    def get(index: Index) -> Any:
        result: list[Any] = []
        for of_x, of_result in groups:
            place = graph.combine(index[of_result], shape[of_result])
            sizes = x.shape[of_x]
            digits: list[Any] = []
            for size in sizes[:0:-1]:
                place, digit = graph.divide(place, size)
                digits.append(digit)
            result += [*([place] if sizes else []), *reversed(digits)]
        return x.at(tuple(result))

    return Array(graph, shape, get, computes=False, reshaped=x)


def _same_elements(old: Sequence[int], new: Sequence[int]) -> Any:
    """Pairs of slices of two shapes, as short as possible, between which the number of elements is the same."""
    i = j = 0
    while i < len(old) or j < len(new):
        first, second = i, j
        i, j = min(i + 1, len(old)), min(j + 1, len(new))
        while math.prod(old[first:i]) != math.prod(new[second:j]):
            if j == len(new) or (i < len(old) and math.prod(old[first:i]) < math.prod(new[second:j])):
                i += 1
            else:
                j += 1
        yield slice(first, i), slice(second, j)


RULES["squeeze"] = RULES["expand_dims"] = _reshape


@rule
def _broadcast_in_dim(
    graph: Graph, aval: Any, x: Array, *, shape: Any, broadcast_dimensions: Any, sharding: Any
) -> Array:
    axes = list(zip(x.shape, broadcast_dimensions, strict=True))
    return view(graph, aval, lambda index: x.at(tuple(0 if size == 1 else index[axis] for size, axis in axes)))


@rule
def _slice(graph: Graph, aval: Any, x: Array, *, start_indices: Any, limit_indices: Any, strides: Any) -> Array:
    steps = list(zip(start_indices, strides or (1,) * x.ndim, strict=True))
    return view(graph, aval, lambda index: x.at(_affine(graph, index, steps)))


def _affine(graph: Graph, index: Index, steps: Sequence[tuple[int, int]]) -> Index:
    """Each part of an index times a step, from a start on."""

    def one(index: Any, start: int, step: int) -> Any:
        if step != 1 and not isinstance(index, int):
            low, high = graph.range_of(index)
            scaled = graph.apply("op_mul", np.int32, index, graph.constant(step, np.int32))
            return graph.add(graph.within(scaled, *sorted((low * step, high * step))), start)
        return graph.add(index * step if isinstance(index, int) else index, start)

    return tuple(one(i, start, step) for i, (start, step) in zip(index, steps, strict=True))


@rule
def _transpose(graph: Graph, aval: Any, x: Array, *, permutation: Any) -> Array:
    places = np.argsort(permutation).tolist()
    return view(graph, aval, lambda index: x.at(tuple(index[place] for place in places)))


@rule
def _rev(graph: Graph, aval: Any, x: Array, *, dimensions: Any) -> Array:
    steps = [(size - 1, -1) if axis in dimensions else (0, 1) for axis, size in enumerate(x.shape)]
    return view(graph, aval, lambda index: x.at(_affine(graph, index, steps)))


@rule
def _concatenate(graph: Graph, aval: Any, *parts: Array, dimension: int) -> Array:
    starts = [0, *itertools.accumulate(part.shape[dimension] for part in parts)]

    def get(index: Index) -> Any:
        place, low, high = index[dimension], *graph.range_of(index[dimension])
        result = None
        for part, start, end in zip(parts, starts, starts[1:], strict=False):
            if start == end or end <= low or start > high:
                continue
            inside = graph.clamp(graph.add(place, -start), end - start - 1)
            value = part.at((*index[:dimension], inside, *index[dimension + 1 :]))
            if result is None:
                result = value
            else:
                is_before = graph.is_below(place, start)
                result = select(graph, both(graph, is_before), value, result)
        return result

    return view(graph, aval, get)


@rule
def _stack(graph: Graph, aval: Any, *parts: Array, **params: Any) -> Array:
    (axis,) = params.values()
    shape = list(aval.shape)
    shape[axis] = 1
    rows = [view(graph, _Shaped(shape), _without(part, axis)) for part in parts]
    return _concatenate(graph, aval, *rows, dimension=axis)


def _without(x: Array, axis: int) -> Callable[[Index], Any]:
    return lambda index: x.at(index[:axis] + index[axis + 1 :])


class _Shaped:
    def __init__(self, shape: Sequence[int]):
        self.shape = tuple(shape)


@rule
def _split(graph: Graph, aval: Any, x: Array, *, sizes: Sequence[int], axis: int) -> list[Array]:
    def part(start: int, size: int) -> Array:
        steps = [(start if i == axis else 0, 1) for i in range(x.ndim)]
        shape = [size if i == axis else length for i, length in enumerate(x.shape)]
        return view(graph, _Shaped(shape), lambda index: x.at(_affine(graph, index, steps)))

    sizes = [int(size) for size in sizes]
    return [part(start, size) for start, size in zip(itertools.accumulate([0, *sizes]), sizes, strict=False)]


@rule
def _unstack(graph: Graph, aval: Any, x: Array, *, axis: int) -> list[Array]:
    def row(number: int) -> Array:
        return view(graph, aval, lambda index: x.at((*index[:axis], number, *index[axis:])))

    return [row(number) for number in range(x.shape[axis])]


@rule
def _tile(graph: Graph, aval: Any, x: Array, *, reps: Sequence[int]) -> Array:
    axes = range(len(aval.shape) - x.ndim, len(aval.shape))  # reps may have more axes than the array
    return view(graph, aval, lambda index: x.at(tuple(graph.divide(index[i], x.shape[i - axes[0]])[1] for i in axes)))


@rule
def _pad(graph: Graph, aval: Any, x: Array, value: Array, *, padding_config: Any) -> Array:
    def get(index: Index) -> Any:
        flags: list[bool | Scalar] = []
        place: list[Any] = []
        for i, size, (low, _, inner) in zip(index, x.shape, padding_config, strict=True):
            i = graph.add(i, -int(low))
            if inner:
                flags.append(graph.is_not_negative(i))
                i, rest = graph.divide(graph.clamp(i, 2**31 - 1), int(inner) + 1)
                flags.append(rest == 0 if isinstance(rest, int) else is_equal(graph, rest, 0))
            flags += [graph.is_not_negative(i), graph.is_below(i, size)]
            place.append(graph.clamp(i, size - 1))
        is_inside = both(graph, *flags)
        if is_inside.is_constant and not is_inside.args[0]:
            return value.at(())
        return select(graph, is_inside, value.at(()), x.at(tuple(place)))

    return Array(graph, aval.shape, get)
