"""The rules of primitives that combine the elements of an array: reductions and products."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from envcore_native.arrays import Array, Index, stored
from envcore_native.rules import Equation, NoRuleError, convert
from envcore_native.scalars import Scalar

_REDUCTIONS = {"sum": "add", "prod": "mul", "max": "max", "min": "min", "and": "and", "or": "or", "xor": "xor"}
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


RULES: dict[str, Callable[..., Any]] = {
    **{f"reduce_{name}": _reduction(f"op_{op}") for name, op in _REDUCTIONS.items()},
    "dot_general": _dot_general,
}
