"""The interpreter: a jaxpr becomes a graph of scalars.

Values are numpy arrays, of scalars of the graph or, where a value is known, of numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.extend import source_info_util

from envcore_fused import indexing, rules
from envcore_fused.rules import array_of, each, is_equal, select
from envcore_fused.scalars import Graph

_RULES = {**rules.RULES, **indexing.RULES}
_CALLS = {"jit": "jaxpr", "closed_call": "call_jaxpr", "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr"}


class CannotLowerError(Exception):
    """A program has an operation without a rule."""


def interpret(graph: Graph, jaxpr: Any, consts: Sequence[Any], args: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results of a jaxpr, as arrays of the graph's scalars or of numbers."""
    values: dict[Any, np.ndarray] = dict(zip(jaxpr.constvars, map(np.asarray, consts), strict=True))
    values.update(zip(jaxpr.invars, args, strict=True))

    def read(atom: Any) -> np.ndarray:
        return np.asarray(atom.val, atom.aval.dtype) if hasattr(atom, "val") else values[atom]

    for equation in jaxpr.eqns:
        inputs = [read(atom) for atom in equation.invars]
        results = _evaluate(graph, equation, inputs)
        for var, result in zip(equation.outvars, results, strict=True):
            values[var] = array_of(result, var.aval.shape)
    return [read(atom) for atom in jaxpr.outvars]


def _evaluate(graph: Graph, equation: Any, inputs: list[np.ndarray]) -> list[Any]:
    name, params = equation.primitive.name, equation.params
    if name in _CALLS:
        closed = params[_CALLS[name]]
        return interpret(graph, closed.jaxpr, closed.consts, inputs)
    if name in _PROGRAMS:
        return _PROGRAMS[name](graph, inputs, params)
    if inputs and not any(x.dtype == object for x in inputs) and "key" not in str(equation.outvars[0].aval.dtype):
        results = equation.primitive.bind(*inputs, **params)
        return [np.asarray(x) for x in (results if equation.primitive.multiple_results else [results])]
    if name not in _RULES:
        raise CannotLowerError(f"no rule for {name} at {source_info_util.summarize(equation.source_info)}")
    return [_RULES[name](graph, equation.outvars[0].aval, *map(graph.array, inputs), **params)]


# Programs inside the program.


def _cond(graph: Graph, inputs: list[np.ndarray], params: Any) -> list[np.ndarray]:
    index, *operands = inputs
    if index.dtype != object:
        branch = params["branches"][int(index)]
        return interpret(graph, branch.jaxpr, branch.consts, operands)
    first, *others = (interpret(graph, branch.jaxpr, branch.consts, operands) for branch in params["branches"])
    chosen: list[Any] = [graph.array(x) for x in first]
    for number, results in enumerate(others, 1):
        pick = functools.partial(select, graph, is_equal(graph, index.item(), number))
        chosen = [each(pick, no, yes) for no, yes in zip(chosen, map(graph.array, results), strict=True)]
    return chosen


def _scan(graph: Graph, inputs: list[np.ndarray], params: Any) -> list[np.ndarray]:
    closed, num_consts, num_carry = params["jaxpr"], params["num_consts"], params["num_carry"]
    consts, carry, rows = (
        inputs[:num_consts],
        inputs[num_consts : num_consts + num_carry],
        inputs[num_consts + num_carry :],
    )
    outputs = []
    order = range(params["length"])
    for step in reversed(order) if params["reverse"] else order:
        results = interpret(graph, closed.jaxpr, closed.consts, [*consts, *carry, *(x[step] for x in map(_rows, rows))])
        carry = results[:num_carry]
        outputs.append([graph.array(x) for x in results[num_carry:]])
    if params["reverse"]:
        outputs.reverse()
    return [*carry, *(np.stack(x) for x in zip(*outputs, strict=True))]


def _rows(x: np.ndarray) -> list[np.ndarray]:
    return [array_of(x[i], x.shape[1:]) if x.dtype == object else np.asarray(x[i]) for i in range(len(x))]


def _platform_index(graph: Graph, inputs: list[np.ndarray], params: Any) -> list[np.ndarray]:
    default = next(i for i, platforms in enumerate(params["platforms"]) if platforms is None)
    return [np.asarray(default, np.int32)]


def _barrier(graph: Graph, inputs: list[np.ndarray], params: Any) -> list[np.ndarray]:
    return inputs


_PROGRAMS: dict[str, Callable[..., list[np.ndarray]]] = {
    "cond": _cond,
    "scan": _scan,
    "platform_index": _platform_index,
    "optimization_barrier": _barrier,
}
