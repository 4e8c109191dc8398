"""The rules of primitives that read or write places known only at run time."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from envcore_native.arrays import Array, Index, both, is_equal, select
from envcore_native.scalars import Graph, Scalar

_INT32 = np.dtype(np.int32)


def _place(graph: Graph, start: Scalar, most: int | None = None) -> Any:
    """A start index as a number or an int32 scalar, inside 0 to `most` if it is given."""
    if start.is_constant:
        start_index = int(start.args[0])
    elif start.dtype == np.uint32:  # as int32, a large one would be negative
        start = graph.apply("op_min", start.dtype, start, graph.constant(2**31 - 1, start.dtype))
        start_index = graph.apply("op_convert", _INT32, _INT32, start)
    else:
        start_index = start if start.dtype == _INT32 else graph.apply("op_convert", _INT32, _INT32, start)
    return start_index if most is None else graph.clamp(start_index, most)


def _plus(graph: Graph, a: Any, b: Any) -> Any:
    """The sum of two indices, which is an index of the same axis."""
    if isinstance(a, int) or isinstance(b, int):
        return graph.add(b, a) if isinstance(a, int) else graph.add(a, b)
    low, high = (x + y for x, y in zip(graph.range_of(a), graph.range_of(b), strict=True))
    return graph.within(graph.apply("op_add", _INT32, a, b), low, high)


def _minus(graph: Graph, a: Any, b: Any) -> Any:
    if isinstance(b, int):
        return graph.add(a, -b)
    a = graph.constant(a, _INT32) if isinstance(a, int) else a
    return graph.apply("op_sub", _INT32, a, b)


def _limits(shape: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """For each axis the last start of a window of these sizes."""
    return [length - size for length, size in zip(shape, sizes, strict=True)]


def _dynamic_slice(graph: Graph, aval: Any, x: Array, *starts: Array, slice_sizes: Any) -> Array:
    limits = _limits(x.shape, slice_sizes)
    begin = [_place(graph, start.at(()), most) for start, most in zip(starts, limits, strict=True)]
    return Array(
        graph,
        aval.shape,
        lambda index: x.at(tuple(_plus(graph, *pair) for pair in zip(begin, index, strict=True))),
        computes=False,
    )


def _written(
    graph: Graph,
    shape: Sequence[int],
    index: Index,
    old: Any,
    starts: Sequence[Any],
    window: Sequence[int],
    update: Callable[[Index], Any],
    combine: Callable[[Any, Any], Any] = lambda old, new: new,
) -> Any:
    """The element at an index after a window was combined with the part that begins at `starts`, if that is inside."""
    limits = _limits(shape, window)
    if min(limits, default=0) < 0:
        return old
    if all(type(x) is int for x in (*index, *starts)) or (graph.most_unrolled is None):
        ranges = [
            range(max(i - size + 1, 0), min(i, most) + 1) for i, size, most in zip(index, window, limits, strict=True)
        ]
        for begin in itertools.product(*ranges):
            is_here = both(graph, *(_equal(graph, *pair) for pair in zip(starts, begin, strict=True)))
            if not (is_here.is_constant and not is_here.args[0]):
                new = combine(old, update(tuple(i - b for i, b in zip(index, begin, strict=True))))
                old = select(graph, is_here, old, new)
        return old
    flags, place = [], []
    for i, start, size, most in zip(index, starts, window, limits, strict=True):
        if size == 1:
            flags += [_equal(graph, start, i)]
            place.append(0)
            continue
        offset = _minus(graph, i, start)
        flags += [graph.is_not_negative(start), graph.is_below(start, most + 1)]
        flags += [graph.is_not_negative(offset), graph.is_below(offset, size)]
        place.append(graph.clamp(offset, size - 1))
    is_here = both(graph, *flags)
    if is_here.is_constant and not is_here.args[0]:
        return old
    return select(graph, is_here, old, combine(old, update(tuple(place))))


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


def _dynamic_update_slice(graph: Graph, aval: Any, x: Array, update: Array, *starts: Array) -> Array:
    limits = _limits(x.shape, update.shape)
    begin = [_place(graph, start.at(()), most) for start, most in zip(starts, limits, strict=True)]
    return Array(
        graph,
        aval.shape,
        lambda index: _written(graph, x.shape, index, x.at(index), begin, update.shape, update.at),
    )


def _scatter(op: str = "") -> Callable[..., Any]:
    def rule(
        graph: Graph,
        aval: Any,
        x: Array,
        indices: Array,
        updates: Array,
        *,
        dimension_numbers: Any,
        mode: Any,
        **params: Any,
    ) -> Array:
        numbers = dimension_numbers
        batch = [i for i in range(updates.ndim) if i not in numbers.update_window_dims]
        hidden = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
        sizes = iter(updates.shape[i] for i in numbers.update_window_dims)
        window = [1 if i in hidden else next(sizes) for i in range(x.ndim)]
        visible = [i for i in range(x.ndim) if i not in hidden]
        most = _limits(x.shape, window) if "CLIP" in str(mode) else [None] * x.ndim
        combine = (lambda old, new: graph.apply(op, aval.dtype, old, new)) if op else (lambda old, new: new)

        @functools.cache
        def starts_of(place: tuple[int, ...]) -> list[Any]:
            starts: list[Any] = [0] * x.ndim
            for number, axis in enumerate(numbers.scatter_dims_to_operand_dims):
                starts[axis] = _place(graph, indices.at((*place, number)), most[axis])
            for axis, i in zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True):
                starts[axis] = place[i]
            return starts

        def get(index: Index) -> Any:
            value = x.at(index)
            for place in np.ndindex(*(updates.shape[i] for i in batch)):

                def update(offset: Index, place: tuple[int, ...] = place) -> Any:
                    at = dict(zip(batch, place, strict=True))
                    at |= {i: offset[axis] for i, axis in zip(numbers.update_window_dims, visible, strict=True)}
                    return updates.at(tuple(at[i] for i in range(updates.ndim)))

                value = _written(graph, x.shape, index, value, starts_of(place), window, update, combine)
            return value

        return Array(graph, aval.shape, get)

    return rule


def _gather(
    graph: Graph,
    aval: Any,
    x: Array,
    indices: Array,
    *,
    dimension_numbers: Any,
    slice_sizes: Any,
    mode: Any,
    fill_value: Any,
    **params: Any,
) -> Array:
    numbers = dimension_numbers
    batch = [i for i in range(len(aval.shape)) if i not in numbers.offset_dims]
    hidden = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    visible = [i for i in range(x.ndim) if i not in hidden]
    limits, fills = _limits(x.shape, slice_sizes), "FILL" in str(mode)

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
            place[axis] = _plus(graph, place[axis], index[i])
        value = x.at(tuple(place))
        if not fills:
            return value
        fill = fill_value if fill_value is not None else _default_fill(aval.dtype)
        return select(graph, both(graph, *flags), graph.constant(fill, aval.dtype), value)

    return Array(graph, aval.shape, get, computes=fills)


def _default_fill(dtype: np.dtype) -> Any:
    if dtype.kind == "f":
        return np.nan
    return True if dtype.kind == "b" else np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max


RULES = {
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "gather": _gather,
    "scatter": _scatter(),
    "scatter-add": _scatter("op_add"),
    "scatter-max": _scatter("op_max"),
    "scatter-min": _scatter("op_min"),
    "scatter-mul": _scatter("op_mul"),
}
