"""The rules of primitives that read or write places known only at run time: selects, or a table in memory."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from envcore_native.memory import Memory, memory_of
from envcore_native.rules import array_of, each, is_equal, same, select
from envcore_native.scalars import Graph, Scalar

_MOST_SELECTS = {"const": 64, "load": 1}  # where a table takes longer


def _clamped(graph: Graph, start: Scalar, most: int) -> Scalar:
    """A start index inside 0 to `most`."""
    if most == 0 or start.is_constant:
        return graph.constant(0 if most == 0 else min(max(int(start.args[0]), 0), most), start.dtype)
    low, high = graph.constant(0, start.dtype), graph.constant(most, start.dtype)
    return graph.apply("op_min", start.dtype, graph.apply("op_max", start.dtype, start, low), high)


def _pick(graph: Graph, x: np.ndarray, starts: Sequence[Scalar], offset: Sequence[int], sizes: Sequence[int]) -> Scalar:
    """`x[starts + offset]`, where a start is from 0 to the axis's length less the slice's size."""
    counts = [length - size + 1 for length, size in zip(x.shape, sizes, strict=True)]
    spans = [slice(o, o + n) for o, n in zip(offset, counts, strict=True)]
    for axis, start in enumerate(starts):
        if start.is_constant:
            place = offset[axis] + int(start.args[0])
            spans[axis] = slice(place, place + 1)
    choices: Any = x[tuple(spans)]
    most = _MOST_SELECTS.get(getattr(choices.flat[0], "op", ""), choices.size)  # a key has no operation
    memory = memory_of(choices) if choices.size > most else None
    if memory:
        return graph.apply("lookup", choices.flat[0].dtype, memory.of, _place(graph, memory, starts, choices.shape))
    for start, axis in zip(starts[::-1], range(x.ndim)[::-1], strict=True):
        rows = list(np.moveaxis(choices, axis, 0))
        chosen = array_of(rows[0], choices.shape[:axis])
        for number, row in enumerate(rows[1:], 1):
            is_here = is_equal(graph, start, number)
            chosen = each(lambda no, yes: select(graph, is_here, no, yes), chosen, row)  # noqa: B023
        choices = array_of(chosen, choices.shape[:axis])
    return choices[()]


def _place(graph: Graph, memory: Memory, starts: Sequence[Scalar], shape: Sequence[int]) -> Scalar:
    place = graph.constant(memory.start, np.int32)
    for start, count, stride in zip(starts, shape, memory.strides, strict=True):
        if count > 1:
            is_int32 = start.dtype == np.int32
            index = start if is_int32 else graph.apply("op_convert", np.int32, np.dtype(np.int32), start)
            offset = graph.apply("op_mul", np.int32, index, graph.constant(stride, np.int32))
            place = graph.apply("op_add", np.int32, place, offset)
    return place


def _dynamic_slice(graph: Graph, aval: Any, x: np.ndarray, *starts: Any, slice_sizes: Any) -> Any:
    most = [length - size for length, size in zip(x.shape, slice_sizes, strict=True)]
    inside = [_clamped(graph, start[()], limit) for start, limit in zip(starts, most, strict=True)]
    result = np.empty(slice_sizes, object)
    for offset in np.ndindex(*slice_sizes):
        result[offset] = _pick(graph, x, inside, offset, slice_sizes)
    return result


def _all(graph: Graph, bools: list[Scalar]) -> Scalar:
    true = graph.constant(True, bool)
    unknown = [known for known in bools if known is not true]
    return functools.reduce(lambda a, b: graph.apply("op_and", bool, a, b), unknown) if unknown else true


def _write(
    graph: Graph,
    x: np.ndarray,
    starts: Sequence[Scalar],
    update: np.ndarray,
    combine: Callable[[Any, Any], Any] = lambda old, new: new,
) -> None:
    """Combines `update` with the part of `x` that begins at `starts`; outside of `x` nothing is written."""
    most = [length - size for length, size in zip(x.shape, update.shape, strict=True)]
    for begin in np.ndindex(*(limit + 1 for limit in most)):
        is_here = _all(graph, [is_equal(graph, start, i) for start, i in zip(starts, begin, strict=True)])
        span = tuple(slice(i, i + size) for i, size in zip(begin, update.shape, strict=True))
        x[span] = each(lambda old, new: select(graph, is_here, old, combine(old, new)), x[span], update)  # noqa: B023


def _dynamic_update_slice(graph: Graph, aval: Any, x: np.ndarray, update: np.ndarray, *starts: Any) -> Any:
    most = [length - size for length, size in zip(x.shape, update.shape, strict=True)]
    result = x.copy()
    _write(
        graph, result, [_clamped(graph, start[()], limit) for start, limit in zip(starts, most, strict=True)], update
    )
    return result


def _scatter(op: str = "") -> Callable[..., Any]:
    def rule(
        graph: Graph,
        aval: Any,
        x: np.ndarray,
        indices: np.ndarray,
        updates: np.ndarray,
        *,
        dimension_numbers: Any,
        mode: Any,
        **params: Any,
    ) -> Any:
        numbers, result = dimension_numbers, x.copy()
        batch = [i for i in range(updates.ndim) if i not in numbers.update_window_dims]
        hidden = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
        rows = updates.transpose(*batch, *numbers.update_window_dims)
        for place in np.ndindex(*(updates.shape[i] for i in batch)):
            starts: list[Scalar] = [graph.constant(0, np.int32)] * x.ndim
            for axis, start in zip(numbers.scatter_dims_to_operand_dims, indices[place], strict=True):
                starts[axis] = start
            for axis, i in zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True):
                starts[axis] = graph.constant(place[i], np.int32)
            row = rows[place]
            sizes = iter(row.shape if isinstance(row, np.ndarray) else ())
            shape = tuple(1 if i in hidden else next(sizes) for i in range(x.ndim))
            window = row.reshape(shape) if isinstance(row, np.ndarray) else array_of(row, shape)
            if "CLIP" in str(mode):
                most = [length - size for length, size in zip(x.shape, window.shape, strict=True)]
                starts = [_clamped(graph, start, limit) for start, limit in zip(starts, most, strict=True)]
            combine = (lambda old, new: graph.apply(op, aval.dtype, old, new)) if op else (lambda old, new: new)
            _write(graph, result, starts, window, combine)
        return result

    return rule


def _gather(
    graph: Graph,
    aval: Any,
    x: np.ndarray,
    indices: np.ndarray,
    *,
    dimension_numbers: Any,
    slice_sizes: Any,
    mode: Any,
    fill_value: Any,
    **params: Any,
) -> Any:
    numbers = dimension_numbers
    batch = [i for i in range(len(aval.shape)) if i not in numbers.offset_dims]
    hidden = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    visible = [i for i in range(x.ndim) if i not in hidden]
    fills = "FILL" in str(mode)
    result = np.empty(aval.shape, object)
    for place in np.ndindex(*aval.shape):
        batch_place = [place[i] for i in batch]
        row = indices[tuple(batch_place)]
        starts = [graph.constant(0, row[0].dtype if row.size else np.int32)] * x.ndim
        for axis, start in zip(numbers.start_index_map, row, strict=True):
            starts[axis] = start
        for axis, index_axis in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True):
            starts[axis] = graph.constant(batch_place[index_axis], np.int32)
        offset = [0] * x.ndim
        for axis, i in zip(visible, numbers.offset_dims, strict=True):
            offset[axis] = place[i]
        most = [length - size for length, size in zip(x.shape, slice_sizes, strict=True)]
        inside = [_clamped(graph, start, limit) for start, limit in zip(starts, most, strict=True)]
        value = _pick(graph, x, inside, offset, slice_sizes)
        if fills:
            is_inside = _all(graph, [same(graph, *pair) for pair in zip(starts, inside, strict=True)])
            fill = fill_value if fill_value is not None else _default_fill(aval.dtype)
            value = select(graph, is_inside, graph.constant(fill, aval.dtype), value)
        result[place] = value
    return result


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
