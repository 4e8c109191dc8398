"""One rule per primitive, which computes arrays from arrays."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from jax import lax

from envcore_native.arrays import Array, Dense, Index, both, constants, is_equal, select, stored
from envcore_native.scalars import Graph, Scalar

RULES: dict[str, Callable[..., Any]] = {}


class NoRuleError(Exception):
    """A use of a primitive is unsupported or needs too much code. The message names the use, such as "65 elements"."""


@dataclasses.dataclass(frozen=True)
class Equation:
    """An equation of a jaxpr. A rule is a function of an equation and its inputs.

    Attributes:
      graph: the graph to add scalars to.
      aval: type of the first result.
      params: params of the primitive.
    """

    graph: Graph
    aval: Any
    params: Mapping[str, Any]

    def apply(self, op: str, *args: Any) -> Scalar:
        """Applies an operation that returns the dtype of the first result."""
        return self.graph.apply(op, self.aval.dtype, *args)

    def each(self, fun: Callable[..., Any], *arrays: Array) -> Array:
        """Applies `fun` to the scalars at each index."""
        return each(self.graph, self.aval.shape, fun, *arrays)

    def computed(self, get: Callable[[Index], Any]) -> Array:
        """An array whose elements are computed."""
        return Array(self.graph, self.aval.shape, get)

    def view(self, get: Callable[[Index], Any]) -> Array:
        """An array whose elements come from other arrays."""
        return Array(self.graph, self.aval.shape, get, computes=False)


def rule(fun: Callable[..., Any]) -> Callable[..., Any]:
    RULES[fun.__name__.strip("_")] = fun
    return fun


def each(graph: Graph, shape: tuple[int, ...], fun: Callable[..., Any], *arrays: Array) -> Array:
    """Applies `fun` to the scalars at each index. Axes of length 1 and arrays of shape () broadcast."""
    inner = [x.reshaped for x in arrays if x.ndim]
    order = inner[0].shape if inner and inner[0] else None
    if order and all(x and x.shape == order for x in inner):  # keep the order of elements, so that one loop is enough
        return reshaped(each(graph, order, fun, *((x.reshaped or x) if x.ndim else x for x in arrays)), shape)
    reads = [_reader(x, shape) for x in arrays]
    return Array(graph, shape, lambda index: fun(*[read(index) for read in reads]))


def _reader(x: Array, shape: tuple[int, ...]) -> Callable[[Index], Any]:
    if x.shape == shape:
        return x.at
    return lambda index: x.at(tuple(0 if size == 1 else i for i, size in zip(index, x.shape, strict=False)))


# Elementwise.

_SAME_NAME = """
    add sub mul div rem max min and or xor not neg eq ne lt le gt ge shift_left shift_right_logical abs sign floor ceil
    shift_right_arithmetic sqrt rsqrt exp expm1 log log1p sin cos tan tanh pow atan atan2 is_finite population_count
    erf_inv logistic
"""


def elementwise(op: str) -> Callable[..., Array]:
    return lambda eqn, *arrays: eqn.each(functools.partial(eqn.apply, op), *arrays)


for _name in _SAME_NAME.split():
    RULES[_name] = elementwise(f"op_{_name}")
RULES["add_any"] = RULES["add"]


@rule
def _round(eqn: Equation, x: Array) -> Array:
    is_even = eqn.params["rounding_method"] == lax.RoundingMethod.TO_NEAREST_EVEN
    return elementwise("op_round_even" if is_even else "op_round_away")(eqn, x)


def convert(graph: Graph, dtype: np.dtype, scalar: Scalar) -> Scalar:
    if scalar.dtype == dtype:
        return scalar
    is_truncated = scalar.dtype.kind == "f" and dtype.kind in "iu"
    return graph.apply("op_truncate" if is_truncated else "op_convert", dtype, dtype, scalar)


@rule
def _convert_element_type(eqn: Equation, x: Array) -> Array:
    return eqn.each(functools.partial(convert, eqn.graph, eqn.aval.dtype), x)


@rule
def _bitcast_convert_type(eqn: Equation, x: Array) -> Array:
    graph, aval, word_type = eqn.graph, eqn.aval, np.dtype(np.uint32)

    def cast(scalar: Scalar, dtype: np.dtype) -> Scalar:
        return scalar if scalar.dtype == dtype else graph.apply("op_bitcast", dtype, dtype, scalar)

    def part(index: Index) -> Scalar:
        shift = graph.times(index[-1], 8 * aval.dtype.itemsize)
        shift = graph.constant(shift, word_type) if isinstance(shift, int) else cast(shift, word_type)
        word = graph.apply("op_shift_right_logical", word_type, cast(x.at(index[:-1]), word_type), shift)
        return convert(graph, aval.dtype, word)

    if x.shape == aval.shape:
        return eqn.each(lambda scalar: cast(scalar, aval.dtype), x)
    if len(aval.shape) < x.ndim:
        raise NoRuleError(f"several elements of {x.at((0,) * x.ndim).dtype} to one")
    return eqn.computed(part)  # the last axis has the parts of a word, lowest first


@rule
def _select_n(eqn: Equation, which: Array, *cases: Array) -> Array:
    graph = eqn.graph

    def choose(which: Scalar, *cases: Any) -> Any:
        if which.dtype == bool:
            return select(graph, which, *cases)
        chosen = cases[0]
        for number, case in enumerate(cases[1:], 1):
            chosen = select(graph, is_equal(graph, which, number), chosen, case)
        return chosen

    return eqn.each(choose, which, *cases)


@rule
def _axis_index(eqn: Equation) -> Array:
    return eqn.view(lambda index: eqn.graph.input("number", np.int32))


@rule
def _iota(eqn: Equation) -> Array:
    axis = eqn.params["dimension"]
    numbers = constants(eqn.graph, np.arange(eqn.aval.shape[axis], dtype=eqn.aval.dtype))
    return eqn.view(lambda index: numbers.at((index[axis],)))


# Shapes.


@rule
def _reshape(eqn: Equation, x: Array) -> Array:
    return reshaped(x, eqn.aval.shape)


RULES["squeeze"] = RULES["expand_dims"] = _reshape


def reshaped(x: Array, shape: tuple[int, ...]) -> Array:
    """Reshapes an array."""
    x = x.reshaped or x
    if isinstance(x, Dense):
        return Dense(x.graph, x.scalars().reshape(shape))
    graph, groups = x.graph, list(_same_elements(x.shape, shape))

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


def _same_elements(old: Sequence[int], new: Sequence[int]) -> Iterator[tuple[slice, slice]]:
    """Splits two shapes into the shortest pairs of slices with the same number of elements."""
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


@rule
def _broadcast_in_dim(eqn: Equation, x: Array) -> Array:
    axes = list(zip(x.shape, eqn.params["broadcast_dimensions"], strict=True))
    return eqn.view(lambda index: x.at(tuple(0 if size == 1 else index[axis] for size, axis in axes)))


@rule
def _slice(eqn: Equation, x: Array) -> Array:
    return _along(eqn, x, eqn.params["start_indices"], eqn.params["strides"] or (1,) * x.ndim)


@rule
def _rev(eqn: Equation, x: Array) -> Array:
    reversed_axes = [axis in eqn.params["dimensions"] for axis in range(x.ndim)]
    starts = [size - 1 if is_reversed else 0 for size, is_reversed in zip(x.shape, reversed_axes, strict=True)]
    return _along(eqn, x, starts, [-1 if is_reversed else 1 for is_reversed in reversed_axes])


def _along(eqn: Equation, x: Array, starts: Sequence[int], steps: Sequence[int]) -> Array:
    graph = eqn.graph

    def get(index: Index) -> Any:
        places = zip(index, starts, steps, strict=True)
        return x.at(tuple(graph.add(graph.times(i, step), start) for i, start, step in places))

    return eqn.view(get)


@rule
def _transpose(eqn: Equation, x: Array) -> Array:
    places = np.argsort(eqn.params["permutation"]).tolist()
    return eqn.view(lambda index: x.at(tuple(index[place] for place in places)))


@rule
def _concatenate(eqn: Equation, *parts: Array) -> Array:
    graph, axis = eqn.graph, eqn.params["dimension"]
    if all(isinstance(part, Dense) for part in parts):
        return Dense(graph, np.concatenate([part.scalars() for part in parts], axis))
    starts = list(itertools.accumulate((part.shape[axis] for part in parts), initial=0))

    def get(index: Index) -> Any:
        place, (low, high), result = index[axis], graph.range_of(index[axis]), None
        for part, (start, end) in zip(parts, itertools.pairwise(starts), strict=True):
            if start == end or end <= low or start > high:
                continue
            inside = graph.clamp(graph.add(place, -start), end - start - 1)
            value = part.at((*index[:axis], inside, *index[axis + 1 :]))
            is_before = both(graph, graph.is_below(place, start))
            result = value if result is None else select(graph, is_before, value, result)
        return result

    return eqn.view(get)


@rule
def _stack(eqn: Equation, *parts: Array) -> Array:
    (axis,) = eqn.params.values()
    shape = (*eqn.aval.shape[:axis], 1, *eqn.aval.shape[axis + 1 :])
    rows = [reshaped(part, shape) for part in parts]
    return _concatenate(dataclasses.replace(eqn, params={"dimension": axis}), *rows)


@rule
def _pad(eqn: Equation, x: Array, value: Array) -> Array:
    graph = eqn.graph
    if any(inner for _, _, inner in eqn.params["padding_config"]):
        raise NoRuleError("values between elements")

    def get(index: Index) -> Any:
        flags: list[bool | Scalar] = []
        place: list[Any] = []
        for i, size, (low, _, _) in zip(index, x.shape, eqn.params["padding_config"], strict=True):
            i = graph.add(i, -int(low))
            flags += [graph.is_not_negative(i), graph.is_below(i, size)]
            place.append(graph.clamp(i, size - 1))
        is_inside = both(graph, *flags)
        if is_inside.is_constant and not is_inside.args[0]:
            return value.at(())
        return select(graph, is_inside, value.at(()), x.at(tuple(place)))

    return eqn.computed(get)


# Reductions and products.

_REDUCTIONS = {"sum": "add", "prod": "mul", "max": "max", "min": "min", "and": "and", "or": "or", "xor": "xor"}
_MOST_PRODUCTS = 1_024


def _elements(x: Array, axes: Any, index: Index) -> list[Any]:
    """The elements along some axes, at an index of the other axes."""
    elements = []
    for place in np.ndindex(*(x.shape[axis] for axis in axes)):
        kept, reduced = iter(index), dict(zip(axes, place, strict=True))
        elements.append(x.at(tuple(reduced[axis] if axis in reduced else next(kept) for axis in range(x.ndim))))
    return elements


def _reduction(op: str) -> Callable[..., Any]:
    def rule(eqn: Equation, x: Array) -> Array:
        combine = functools.partial(eqn.apply, op)
        return eqn.computed(lambda index: functools.reduce(combine, _elements(x, eqn.params["axes"], index)))

    return rule


@rule
def _dot_general(eqn: Equation, x: Array, y: Array) -> Array:
    """Computes in the highest precision, whatever `precision` is, and sums in the order of the elements."""
    graph, aval = eqn.graph, eqn.aval
    contracted, batch = eqn.params["dimension_numbers"]
    x = stored(x) if x.size > (graph.most_unrolled or x.size) and not isinstance(x, Dense) else x
    free = [[i for i in range(a.ndim) if i not in (*c, *b)] for a, c, b in zip((x, y), contracted, batch, strict=True)]

    def get(index: Index) -> Scalar:
        first = len(batch[0])
        second = first + len(free[0])
        total, factors = graph.constant(0, aval.dtype), []
        for side, array, own in ((0, x, index[first:second]), (1, y, index[second:])):
            places = dict(zip((*batch[side], *free[side]), (*index[:first], *own), strict=True))
            elements = _elements(array, contracted[side], tuple(places[axis] for axis in sorted(places)))
            factors.append([convert(graph, aval.dtype, element) for element in elements])
        for pair in zip(*factors, strict=True):
            total = eqn.apply("op_add", total, eqn.apply("op_mul", *pair))
        return total

    result = eqn.computed(get)
    count = math.prod(aval.shape) // (graph.num_rows or 1) * math.prod(x.shape[axis] for axis in contracted[0])
    if count <= _MOST_PRODUCTS:
        return result
    if graph.most_unrolled is None:
        raise NoRuleError(f"{count:,} products (use envcore.rollout.run_rollout for more than {_MOST_PRODUCTS:,})")
    return stored(result)


for _name, _op in _REDUCTIONS.items():
    RULES[f"reduce_{_name}"] = _reduction(f"op_{_op}")


# Indices known only at run time.


def _place(graph: Graph, start: Scalar, most: int | None = None) -> Any:
    """A start index as a number or an int32 scalar, clamped to the range from 0 to `most` if given."""
    place: Any = int(start.args[0]) if start.is_constant else start
    if isinstance(place, Scalar) and place.dtype == np.uint32:  # large numbers would become negative
        place = graph.apply("op_min", place.dtype, place, graph.constant(2**31 - 1, place.dtype))
    if isinstance(place, Scalar) and place.dtype != np.int32:
        place = graph.apply("op_convert", np.dtype(np.int32), np.dtype(np.int32), place)
    return place if most is None else graph.clamp(place, most)


def _equal(graph: Graph, a: Any, b: Any) -> bool | Scalar:
    if isinstance(a, int):
        a, b = b, a
    if isinstance(a, int):
        return a == b
    if isinstance(b, Scalar):
        return graph.constant(True, bool) if a is b else graph.apply("op_eq", bool, a, b)
    low, high = graph.range_of(a)
    if not low <= b <= high:
        return False
    base, offset = graph.parts_of(a)
    return is_equal(graph, base, b - offset)


def _scatter(op: str = "") -> Callable[..., Any]:
    def scattered(eqn: Equation, x: Array, indices: Array, updates: Array) -> Array:
        numbers, graph = eqn.params["dimension_numbers"], eqn.graph
        batch = [i for i in range(updates.ndim) if i not in numbers.update_window_dims]
        hidden = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
        visible = [i for i in range(x.ndim) if i not in hidden]
        sizes = dict(zip(visible, (updates.shape[i] for i in numbers.update_window_dims), strict=True))
        window = [sizes.get(i, 1) for i in range(x.ndim)]
        limits, clips = np.subtract(x.shape, window).tolist(), "CLIP" in str(eqn.params["mode"])
        combine = functools.partial(eqn.apply, op) if op else lambda old, new: new
        if not op and eqn.params["update_jaxpr"] is not None:  # of x.at[i].apply(f)
            raise NoRuleError("a function")

        @functools.cache
        def starts_of(place: tuple[int, ...]) -> list[Any]:
            starts: list[Any] = [0] * x.ndim
            for number, axis in enumerate(numbers.scatter_dims_to_operand_dims):
                starts[axis] = _place(graph, indices.at((*place, number)), limits[axis] if clips else None)
            for axis, i in zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True):
                starts[axis] = place[i]
            return starts

        def get(index: Index) -> Any:
            value = x.at(index)
            for place in np.ndindex(*(updates.shape[i] for i in batch)):
                at, flags = dict(zip(batch, place, strict=True)), []
                windows = dict(zip(visible, numbers.update_window_dims, strict=True))
                for axis, (i, start) in enumerate(zip(index, starts_of(place), strict=True)):
                    if window[axis] == 1:
                        flags.append(_equal(graph, start, i))
                        offset = 0
                    else:
                        offset = graph.add(i, graph.times(start, -1))
                        flags += [graph.is_not_negative(start), graph.is_below(start, limits[axis] + 1)]
                        flags += [graph.is_not_negative(offset), graph.is_below(offset, window[axis])]
                        offset = graph.clamp(offset, window[axis] - 1)
                    if axis in windows:
                        at[windows[axis]] = offset
                is_here = both(graph, *flags)
                if not is_here.is_constant or is_here.args[0]:
                    new = updates.at(tuple(at[i] for i in range(updates.ndim)))
                    value = select(graph, is_here, value, combine(value, new))
            return value

        return eqn.computed(get)

    return scattered


@rule
def _gather(eqn: Equation, x: Array, indices: Array) -> Array:
    numbers, graph, dtype = eqn.params["dimension_numbers"], eqn.graph, eqn.aval.dtype
    batch = [i for i in range(len(eqn.aval.shape)) if i not in numbers.offset_dims]
    hidden = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    visible = [i for i in range(x.ndim) if i not in hidden]
    limits, fills = np.subtract(x.shape, eqn.params["slice_sizes"]).tolist(), "FILL" in str(eqn.params["mode"])
    fill = _default_fill(dtype) if fills and eqn.params["fill_value"] is None else eqn.params["fill_value"]

    def get(index: Index) -> Any:
        row, flags = tuple(index[i] for i in batch), []
        place: list[Any] = [0] * x.ndim
        for number, axis in enumerate(numbers.start_index_map):
            start = _place(graph, indices.at((*row, number)))
            place[axis] = graph.clamp(start, limits[axis])
            if fills:
                flags.append(_equal(graph, start, place[axis]))
        for axis, i in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True):
            place[axis] = row[i]
        for axis, i in zip(visible, numbers.offset_dims, strict=True):
            place[axis] = graph.add(place[axis], index[i])
        value = x.at(tuple(place))
        return select(graph, both(graph, *flags), graph.constant(fill, dtype), value) if fills else value

    return eqn.computed(get) if fills else eqn.view(get)


def _default_fill(dtype: np.dtype) -> Any:
    if dtype.kind == "f":
        return np.nan
    return True if dtype.kind == "b" else np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max


RULES["scatter"] = _scatter()
for _name in ("add", "max", "min", "mul", "sub"):
    RULES[f"scatter-{_name}"] = _scatter(f"op_{_name}")
