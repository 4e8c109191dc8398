"""The rules of primitives that combine the elements of an array: reductions, products, cumulative sums, sorting."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from envcore_native.arrays import Array, Dense, Index, select, stored
from envcore_native.rules import Equation, NoRuleError, convert
from envcore_native.scalars import Graph, Scalar

_REDUCTIONS = {"sum": "add", "prod": "mul", "max": "max", "min": "min", "and": "and", "or": "or", "xor": "xor"}
_CUMULATIVE = {"cumsum": "add", "cumprod": "mul", "cummax": "max", "cummin": "min"}
_MOST_SORTED = 64
_MOST_PRODUCTS = 1_024


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


def _by_line(eqn: Equation, axis: int, fun: Callable[..., Any], *arrays: Array) -> list[Array]:
    """Arrays whose lines along an axis are computed from those of others."""
    graph, shape = eqn.graph, arrays[0].shape

    @functools.cache
    def lines(others: Index) -> list[Dense]:
        places = [(*others[:axis], i, *others[axis:]) for i in range(shape[axis])]
        return [Dense(graph, np.array(line, object)) for line in fun(*([x.at(i) for i in places] for x in arrays))]

    def made(number: int) -> Array:
        get = lambda index: lines((*index[:axis], *index[axis + 1 :]))[number].at((index[axis],))  # noqa: E731
        array = Array(graph, shape, get)
        return array if graph.num_rows else Dense(graph, array.scalars())

    return [made(number) for number in range(len(arrays))]


def _cumulative(op: str) -> Callable[..., Any]:
    def rule(eqn: Equation, x: Array) -> Array:
        order, combine = -1 if eqn.params["reverse"] else 1, functools.partial(eqn.apply, op)

        def sums(line: list[Scalar]) -> list[list[Scalar]]:
            return [list(itertools.accumulate(line[::order], combine))[::order]]

        return _by_line(eqn, eqn.params["axis"], sums, x)[0]

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


def _dot_general(eqn: Equation, x: Array, y: Array) -> Array:
    """Every `precision` gets what the highest one asks for, with sums in the order of the elements."""
    graph, aval = eqn.graph, eqn.aval
    contracted, batch = eqn.params["dimension_numbers"]
    free = [[i for i in range(a.ndim) if i not in (*c, *b)] for a, c, b in zip((x, y), contracted, batch, strict=True)]

    def get(index: Index) -> Scalar:
        first = len(batch[0])
        second = first + len(free[0])
        total, factors = graph.constant(0, aval.dtype), []
        for side, array, own in ((0, x, index[first:second]), (1, y, index[second:])):
            places = dict(zip((*batch[side], *free[side]), (*index[:first], *own), strict=True))
            elements = _along(array, contracted[side], tuple(places[axis] for axis in sorted(places)))
            factors.append([convert(graph, aval.dtype, element) for element in elements])
        for pair in zip(*factors, strict=True):
            total = eqn.apply("op_add", total, eqn.apply("op_mul", *pair))
        return total

    result = eqn.computed(get)
    count = math.prod(aval.shape) // (graph.num_rows or 1) * math.prod(x.shape[axis] for axis in contracted[0])
    if count <= _MOST_PRODUCTS:
        return result
    if graph.most_unrolled is None:
        raise NoRuleError(
            f"{count:,} products of numbers, more than {_MOST_PRODUCTS:,}: use envcore.rollout.run_rollout"
        )
    return stored(result)


def _sort(eqn: Equation, *arrays: Array) -> list[Array]:
    """Odd-even transposition, which is stable."""
    graph, axis = eqn.graph, eqn.params["dimension"]
    count = arrays[0].shape[axis]
    if count > _MOST_SORTED:
        raise NoRuleError(f"{count} elements")

    def exchanged(*lines: list[Scalar]) -> Any:
        for place in (place for first in range(count) for place in range(first % 2, count - 1, 2)):
            pairs = [(line[place], line[place + 1]) for line in lines]
            swaps = _is_before(graph, [(b, a) for a, b in pairs[: eqn.params["num_keys"]]])
            for line, (a, b) in zip(lines, pairs, strict=True):
                line[place], line[place + 1] = select(graph, swaps, a, b), select(graph, swaps, b, a)
        return lines

    return _by_line(eqn, axis, exchanged, *arrays)


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
    "dot_general": _dot_general,
    "sort": _sort,
}
