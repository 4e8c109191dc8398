"""The rules of primitives that combine the elements of an array: reductions, cumulative sums, sorting."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from envcore_native.rules import TooManyError, array_of, each, elementwise, select
from envcore_native.scalars import Graph, Scalar

RULES: dict[str, Callable[..., Any]] = {}

_REDUCTIONS = {"sum": "add", "prod": "mul", "max": "max", "min": "min", "and": "and", "or": "or", "xor": "xor"}
_CUMULATIVE = {"cumsum": "add", "cumprod": "mul", "cummax": "max", "cummin": "min"}
_MOST_SORTED = 64


def _reduction(op: str) -> Callable[..., Any]:
    def rule(graph: Graph, aval: Any, x: np.ndarray, *, axes: Any, **params: Any) -> Any:
        kept = [i for i in range(x.ndim) if i not in axes]
        rows = x.transpose(*axes, *kept).reshape(-1, *aval.shape)
        return functools.reduce(functools.partial(elementwise(op), graph, aval), list(rows))

    return rule


def _cumulative(op: str) -> Callable[..., Any]:
    def rule(graph: Graph, aval: Any, x: np.ndarray, *, axis: int, reverse: bool) -> Any:
        rows = list(np.moveaxis(x, axis, 0))
        combine = functools.partial(elementwise(op), graph, aval)
        sums = list(itertools.accumulate(reversed(rows) if reverse else rows, combine))
        sums = [array_of(x, rows[0].shape if isinstance(rows[0], np.ndarray) else ()) for x in sums]
        return np.moveaxis(np.stack(sums[::-1] if reverse else sums), 0, axis)

    return rule


for _name, _op in _REDUCTIONS.items():
    RULES[f"reduce_{_name}"] = _reduction(f"op_{_op}")
for _name, _op in _CUMULATIVE.items():
    RULES[_name] = _cumulative(f"op_{_op}")


def _first_best(op: str) -> Callable[..., Any]:
    def rule(graph: Graph, aval: Any, x: np.ndarray, *, axes: Any, index_dtype: Any) -> Any:
        rows = [array_of(row, aval.shape) for row in np.moveaxis(x, axes[0], 0)]
        best, found = rows[0], graph.array(np.zeros(aval.shape, index_dtype))
        for number, row in enumerate(rows[1:], 1):
            is_better = array_of(each(lambda a, b: graph.apply(op, bool, a, b), row, best), aval.shape)
            here = graph.array(np.full(aval.shape, number, index_dtype))
            best = array_of(each(functools.partial(select, graph), is_better, best, row), aval.shape)
            found = array_of(each(functools.partial(select, graph), is_better, found, here), aval.shape)
        return found

    return rule


RULES["argmax"], RULES["argmin"] = _first_best("op_above"), _first_best("op_below")


def _sort(graph: Graph, aval: Any, *arrays: np.ndarray, dimension: int, is_stable: bool, num_keys: int) -> Any:
    """Odd-even transposition, which is stable."""
    arrays = tuple(np.moveaxis(x, dimension, -1).copy() for x in arrays)
    *others, count = arrays[0].shape
    if count > _MOST_SORTED:
        raise TooManyError(f"{count} elements")
    for index in np.ndindex(*others):
        lines = [x[index] for x in arrays]
        for place in (place for first in range(count) for place in range(first % 2, count - 1, 2)):
            pairs = [(line[place], line[place + 1]) for line in lines]
            swaps = _is_before(graph, [(b, a) for a, b in pairs[:num_keys]])
            for line, (a, b) in zip(lines, pairs, strict=True):
                line[place], line[place + 1] = select(graph, swaps, a, b), select(graph, swaps, b, a)
    return [np.moveaxis(x, -1, dimension) for x in arrays]


RULES["sort"] = _sort


def _is_before(graph: Graph, pairs: list[tuple[Scalar, Scalar]]) -> Scalar:
    """Whether the first of the pairs come before the second; NaN comes last."""
    result = None
    for pair in reversed(pairs):
        before = graph.apply("op_before", bool, *pair)
        if result is not None:
            level = graph.apply("op_and", bool, graph.apply("op_level", bool, *pair), result)
            before = graph.apply("op_or", bool, before, level)
        result = before
    assert result is not None
    return result
