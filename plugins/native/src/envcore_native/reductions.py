"""The rules of primitives that combine the elements of an array: reductions, cumulative sums, sorting."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from envcore_native.arrays import Array, Dense, Index, select
from envcore_native.rules import TooManyError
from envcore_native.scalars import Graph, Scalar

RULES: dict[str, Callable[..., Any]] = {}

_REDUCTIONS = {"sum": "add", "prod": "mul", "max": "max", "min": "min", "and": "and", "or": "or", "xor": "xor"}
_CUMULATIVE = {"cumsum": "add", "cumprod": "mul", "cummax": "max", "cummin": "min"}
_MOST_SORTED = 64


def _reduction(op: str) -> Callable[..., Any]:
    def rule(graph: Graph, aval: Any, x: Array, *, axes: Any, **params: Any) -> Array:
        def get(index: Index) -> Scalar:
            elements = _along(x, axes, index)
            return functools.reduce(functools.partial(graph.apply, op, aval.dtype), elements)

        return Array(graph, aval.shape, get)

    return rule


def _along(x: Array, axes: Any, index: Index) -> list[Any]:
    """The elements along some axes, at an index of the others."""
    elements = []
    for place in np.ndindex(*(x.shape[axis] for axis in axes)):
        kept, reduced = iter(index), dict(zip(axes, place, strict=True))
        elements.append(x.at(tuple(reduced[axis] if axis in reduced else next(kept) for axis in range(x.ndim))))
    return elements


def _cumulative(op: str) -> Callable[..., Any]:
    def rule(graph: Graph, aval: Any, x: Array, *, axis: int, reverse: bool) -> Array:
        result = np.empty(aval.shape, object)
        combine = functools.partial(graph.apply, op, aval.dtype)
        for index in np.ndindex(*aval.shape[:axis], *aval.shape[axis + 1 :]):
            line = _along(x, [axis], index)
            sums = list(itertools.accumulate(reversed(line) if reverse else line, combine))
            for place, total in enumerate(reversed(sums) if reverse else sums):
                result[(*index[:axis], place, *index[axis:])] = total
        return Dense(graph, result)

    return rule


for _name, _op in _REDUCTIONS.items():
    RULES[f"reduce_{_name}"] = _reduction(f"op_{_op}")
for _name, _op in _CUMULATIVE.items():
    RULES[_name] = _cumulative(f"op_{_op}")


def _first_best(op: str) -> Callable[..., Any]:
    def rule(graph: Graph, aval: Any, x: Array, *, axes: Any, index_dtype: Any) -> Array:
        def get(index: Index) -> Scalar:
            best, *others = _along(x, axes, index)
            found = graph.constant(0, index_dtype)
            for number, other in enumerate(others, 1):
                is_better = graph.apply(op, bool, other, best)
                best = select(graph, is_better, best, other)
                found = select(graph, is_better, found, graph.constant(number, index_dtype))
            return found

        return Array(graph, aval.shape, get)

    return rule


RULES["argmax"], RULES["argmin"] = _first_best("op_above"), _first_best("op_below")


def _sort(graph: Graph, aval: Any, *arrays: Array, dimension: int, is_stable: bool, num_keys: int) -> list[Array]:
    """Odd-even transposition, which is stable."""
    moved = [np.moveaxis(x.scalars(), dimension, -1).copy() for x in arrays]
    *others, count = moved[0].shape
    if count > _MOST_SORTED:
        raise TooManyError(f"{count} elements")
    for index in np.ndindex(*others):
        lines = [x[index] for x in moved]
        for place in (place for first in range(count) for place in range(first % 2, count - 1, 2)):
            pairs = [(line[place], line[place + 1]) for line in lines]
            swaps = _is_before(graph, [(b, a) for a, b in pairs[:num_keys]])
            for line, (a, b) in zip(lines, pairs, strict=True):
                line[place], line[place + 1] = select(graph, swaps, a, b), select(graph, swaps, b, a)
    return [Dense(graph, np.moveaxis(x, -1, dimension)) for x in moved]


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
