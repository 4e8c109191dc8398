"""The rules of primitives that combine the elements of an array: reductions, cumulative sums, sorting."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from envcore_native.arrays import Array, Dense, Index, select
from envcore_native.rules import Equation, TooManyError
from envcore_native.scalars import Graph, Scalar

_REDUCTIONS = {"sum": "add", "prod": "mul", "max": "max", "min": "min", "and": "and", "or": "or", "xor": "xor"}
_CUMULATIVE = {"cumsum": "add", "cumprod": "mul", "cummax": "max", "cummin": "min"}
_MOST_SORTED = 64


def _along(x: Array, axes: Any, index: Index) -> list[Any]:
    """The elements along some axes, at an index of the others."""
    elements = []
    for place in np.ndindex(*(x.shape[axis] for axis in axes)):
        kept, reduced = iter(index), dict(zip(axes, place, strict=True))
        elements.append(x.at(tuple(reduced[axis] if axis in reduced else next(kept) for axis in range(x.ndim))))
    return elements


def _reduction(op: str) -> Callable[..., Any]:
    def rule(eqn: Equation, x: Array) -> Array:
        combine = functools.partial(eqn.apply, op)
        return eqn.computed(lambda index: functools.reduce(combine, _along(x, eqn.params["axes"], index)))

    return rule


def _cumulative(op: str) -> Callable[..., Any]:
    def rule(eqn: Equation, x: Array) -> Array:
        axis, order = eqn.params["axis"], -1 if eqn.params["reverse"] else 1
        result = np.empty(x.shape, object)
        lines = np.moveaxis(result, axis, -1)
        for index in np.ndindex(*lines.shape[:-1]):
            sums = itertools.accumulate(_along(x, [axis], index)[::order], functools.partial(eqn.apply, op))
            lines[index] = list(sums)[::order]
        return Dense(eqn.graph, result)

    return rule


def _first_best(op: str) -> Callable[..., Any]:
    def rule(eqn: Equation, x: Array) -> Array:
        graph = eqn.graph

        def get(index: Index) -> Scalar:
            best, *others = _along(x, eqn.params["axes"], index)
            found = graph.constant(0, eqn.aval.dtype)
            for number, other in enumerate(others, 1):
                is_better = graph.apply(op, bool, other, best)
                best = select(graph, is_better, best, other)
                found = select(graph, is_better, found, graph.constant(number, eqn.aval.dtype))
            return found

        return eqn.computed(get)

    return rule


def _sort(eqn: Equation, *arrays: Array) -> list[Array]:
    """Odd-even transposition, which is stable."""
    graph, axis = eqn.graph, eqn.params["dimension"]
    moved = [np.moveaxis(x.scalars(), axis, -1).copy() for x in arrays]
    *others, count = moved[0].shape
    if count > _MOST_SORTED:
        raise TooManyError(f"{count} elements")
    for index in np.ndindex(*others):
        lines = [x[index] for x in moved]
        for place in (place for first in range(count) for place in range(first % 2, count - 1, 2)):
            pairs = [(line[place], line[place + 1]) for line in lines]
            swaps = _is_before(graph, [(b, a) for a, b in pairs[: eqn.params["num_keys"]]])
            for line, (a, b) in zip(lines, pairs, strict=True):
                line[place], line[place + 1] = select(graph, swaps, a, b), select(graph, swaps, b, a)
    return [Dense(graph, np.moveaxis(x, -1, axis)) for x in moved]


def _is_before(graph: Graph, pairs: list[tuple[Scalar, Scalar]]) -> Scalar:
    """Whether the first of the pairs come before the second; NaN comes last."""
    pair, *others = pairs
    before = graph.apply("op_before", bool, *pair)
    if not others:
        return before
    level = graph.apply("op_and", bool, graph.apply("op_level", bool, *pair), _is_before(graph, others))
    return graph.apply("op_or", bool, before, level)


RULES: dict[str, Callable[..., Any]] = {
    **{f"reduce_{name}": _reduction(f"op_{op}") for name, op in _REDUCTIONS.items()},
    **{name: _cumulative(f"op_{op}") for name, op in _CUMULATIVE.items()},
    "argmax": _first_best("op_above"),
    "argmin": _first_best("op_below"),
    "sort": _sort,
}
