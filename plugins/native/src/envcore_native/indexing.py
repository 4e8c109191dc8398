"""The rules of primitives that read or write places known only at run time."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from envcore_native.arrays import Array, Index, both, is_equal, select
from envcore_native.rules import Equation
from envcore_native.scalars import Graph, Scalar

_INT32 = np.dtype(np.int32)


def _place(graph: Graph, start: Scalar, most: int | None = None) -> Any:
    """A start index as a number or an int32 scalar, inside 0 to `most` if it is given."""
    place: Any = int(start.args[0]) if start.is_constant else start
    if isinstance(place, Scalar) and place.dtype == np.uint32:  # as int32, a large one would be negative
        place = graph.apply("op_min", place.dtype, place, graph.constant(2**31 - 1, place.dtype))
    if isinstance(place, Scalar) and place.dtype != _INT32:
        place = graph.apply("op_convert", _INT32, _INT32, place)
    return place if most is None else graph.clamp(place, most)


def _limits(shape: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """For each axis the last start of a window of these sizes."""
    return [length - size for length, size in zip(shape, sizes, strict=True)]


def _begin(eqn: Equation, x: Array, starts: Sequence[Array], sizes: Sequence[int]) -> list[Any]:
    """Where a window begins, moved inside the array."""
    return [_place(eqn.graph, s.at(()), most) for s, most in zip(starts, _limits(x.shape, sizes), strict=True)]


def _dynamic_slice(eqn: Equation, x: Array, *starts: Array) -> Array:
    begin = _begin(eqn, x, starts, eqn.params["slice_sizes"])
    return eqn.view(lambda index: x.at(tuple(map(eqn.graph.add, begin, index))))


def _dynamic_update_slice(eqn: Equation, x: Array, update: Array, *starts: Array) -> Array:
    begin = _begin(eqn, x, starts, update.shape)
    return eqn.computed(lambda index: _written(eqn.graph, x.shape, index, x.at(index), begin, update.shape, update.at))


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
    flags, place = [], []
    for i, start, size, most in zip(index, starts, window, limits, strict=True):
        if size == 1:
            flags.append(_equal(graph, start, i))
            place.append(0)
            continue
        offset = graph.minus(i, start)
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


def _scatter(op: str = "") -> Callable[..., Any]:
    def rule(eqn: Equation, x: Array, indices: Array, updates: Array) -> Array:
        numbers, graph = eqn.params["dimension_numbers"], eqn.graph
        batch = [i for i in range(updates.ndim) if i not in numbers.update_window_dims]
        hidden = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
        visible = [i for i in range(x.ndim) if i not in hidden]
        sizes = dict(zip(visible, (updates.shape[i] for i in numbers.update_window_dims), strict=True))
        window = [sizes.get(i, 1) for i in range(x.ndim)]
        most = _limits(x.shape, window) if "CLIP" in str(eqn.params["mode"]) else [None] * x.ndim
        combine = functools.partial(eqn.apply, op) if op else lambda old, new: new

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

        return eqn.computed(get)

    return rule


def _gather(eqn: Equation, x: Array, indices: Array) -> Array:
    numbers, graph, dtype = eqn.params["dimension_numbers"], eqn.graph, eqn.aval.dtype
    batch = [i for i in range(len(eqn.aval.shape)) if i not in numbers.offset_dims]
    hidden = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    visible = [i for i in range(x.ndim) if i not in hidden]
    limits, fills = _limits(x.shape, eqn.params["slice_sizes"]), "FILL" in str(eqn.params["mode"])
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
