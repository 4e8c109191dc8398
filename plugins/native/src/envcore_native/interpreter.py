"""Interprets a jaxpr and builds a graph of scalars.

A value is a numpy array if it is known, and an `Array` of scalars otherwise.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from envcore.errors import InvalidArgumentError
from envcore.typing import PyTree
from jax.core import Tracer
from jax.extend import source_info_util

from envcore_native import known
from envcore_native.arrays import Array, Dense, Index, Leaf, constants, fixed, keys_of, stored, words_of
from envcore_native.functions import FUNCTIONS
from envcore_native.rows import ROW_OF, OtherRowError
from envcore_native.rules import RULES, Equation, NoRuleError
from envcore_native.scalars import INSTEAD, Graph, Key, check_dtype, is_key

Value = np.ndarray | Array
"""A value of the program: a numpy array if it is known, an array of scalars otherwise."""

_MOST_KNOWN = 4_096  # bytes
_MOST_NESTED = 50  # lazy arrays that depend on each other, before one is stored in memory
_CUSTOM_CALLS = dict.fromkeys(("closed_call", "custom_jvp_call", "custom_vjp_call"), "call_jaxpr")
_CALLS = _CUSTOM_CALLS | dict.fromkeys(("checkpoint", "jit", "remat2"), "jaxpr") | {"custom_vmap_call": "call"}


def interpret_function(
    graph: Graph,
    fun: Callable[..., PyTree],
    args: tuple[PyTree, ...],
    arrays: Sequence[Array],
    axes: Sequence[tuple[str, int]] = (),
) -> tuple[PyTree, list[Leaf], list[tuple[jax.Array, Leaf]]]:
    """Traces a function and interprets its jaxpr.

    Args:
      graph: the graph to add scalars to.
      fun: a function of `args`.
      args: arrays or `jax.ShapeDtypeStruct`.
      arrays: the leaves of `args` as arrays of scalars.
      axes: names and sizes of mapped axes.

    Returns:
      The types of the results, their leaves, and the traced arrays that the function closes over, each with its leaf.
    """
    closed, result = jax.make_jaxpr(fun, axis_env=list(axes), return_shape=True)(*args)
    closed_over, consts = [], []
    for const in closed.consts:
        if is_key(const) and not isinstance(const, Tracer):
            consts.append(keys_of(constants(graph, np.asarray(jax.random.key_data(const)))))
        elif isinstance(const, Tracer):
            name = f"closed{len(closed_over)}"
            consts.append(fixed(graph, name, const.shape, const.dtype))
            closed_over.append((const, Leaf(name, consts[-1], const.dtype)))
        else:
            consts.append(np.asarray(const))
    outputs = zip(interpret(graph, closed.jaxpr, consts, arrays), closed.out_avals, strict=True)
    leaves = [Leaf(f"out{i}", _array(graph, x), aval.dtype) for i, (x, aval) in enumerate(outputs)]
    return result, leaves, closed_over


def interpret(graph: Graph, jaxpr: Any, consts: Sequence[Value], args: Sequence[Value], place: str = "") -> list[Value]:
    """Returns the results of a jaxpr. `place` is the line that calls it, for error messages."""
    values: dict[Any, Value] = dict(zip(jaxpr.constvars, consts, strict=True))
    values.update(zip(jaxpr.invars, args, strict=True))

    def read(atom: Any) -> Value:
        return np.asarray(atom.val, atom.aval.dtype) if hasattr(atom, "val") else values[atom]

    for equation in jaxpr.eqns:
        inputs = [read(atom) for atom in equation.invars]
        depth = max((x.depth for x in inputs if isinstance(x, Array)), default=0)
        for var, result in zip(
            equation.outvars, _evaluate(graph, equation, inputs, _line(equation) or place), strict=True
        ):
            is_empty = 0 in var.aval.shape and not is_key(var.aval)
            values[var] = np.zeros(var.aval.shape, var.aval.dtype) if is_empty else _made(graph, result, depth)
    return [read(atom) for atom in jaxpr.outvars]


def _array(graph: Graph, value: Value) -> Array:
    return value if isinstance(value, Array) else constants(graph, value)


def _made(graph: Graph, value: Value, depth: int = 0) -> Value:
    """The value. All scalars are made now, unless a loop will compute them."""
    most, num_rows = graph.most_unrolled, graph.num_rows
    if isinstance(value, Dense) or not isinstance(value, Array):
        return value
    if num_rows in value.shape:  # only one row of the batch can be computed
        axis = value.shape.index(num_rows)
        with contextlib.suppress(OtherRowError):
            for index in np.ndindex(*value.shape[:axis], *value.shape[axis + 1 :]):
                value.at((*index[:axis], graph.number(num_rows), *index[axis:]))
        return value
    if value.computes and (most is None or value.size <= most):
        return Dense(graph, value.scalars())
    value.depth = max(value.depth, depth + 1)
    is_deep = value.depth > _MOST_NESTED and not isinstance(value.at((0,) * value.ndim), Key)
    return stored(value) if is_deep and most is not None else value


def _evaluate(graph: Graph, equation: Any, inputs: list[Any], place: str) -> Any:
    name, params, avals = equation.primitive.name, equation.params, [var.aval for var in equation.outvars]
    if name in _CALLS:
        inner = params[_CALLS[name]]
        return interpret(graph, getattr(inner, "jaxpr", inner), getattr(inner, "consts", ()), inputs, place)
    if name in _PROGRAMS:
        return _PROGRAMS[name](graph, equation, inputs, place)
    has_keys = any(map(is_key, (*avals, *(atom.aval for atom in equation.invars))))
    if inputs and not has_keys and not any(isinstance(x, Array) for x in inputs) and _is_small(graph, avals, inputs):
        return list(known.results(equation, inputs))
    if name not in RULES and name not in FUNCTIONS:
        raise InvalidArgumentError(f"envcore_native does not support the primitive {name}{place}. {INSTEAD}")
    for aval in avals:
        if not is_key(aval):
            check_dtype(aval.dtype, name, place)
    try:
        if name in FUNCTIONS:
            return _function(graph, equation, inputs)
        result = RULES[name](Equation(graph, avals[0], params), *(_array(graph, x) for x in inputs))
    except (NoRuleError, TypeError) as error:
        if isinstance(error, TypeError) and not has_keys:
            raise
        of = "random keys" if isinstance(error, TypeError) else error
        raise InvalidArgumentError(f"envcore_native does not support {name} of {of}{place}.") from error
    return result if equation.primitive.multiple_results else [result]


def _is_small(graph: Graph, avals: list[Any], inputs: list[Any]) -> bool:
    """Whether known results are small enough for tables. Loops compute larger ones, and all that depends on pixels."""
    inputs = [np.asarray(x) for x in inputs]  # in JAX 0.8, constants may be of a class without `nbytes`
    most = max(_MOST_KNOWN, *(x.nbytes for x in inputs))
    is_small = all(aval.size * aval.dtype.itemsize <= most for aval in avals) and not any(map(_are_coordinates, inputs))
    return graph.most_unrolled is None or is_small


def _are_coordinates(x: np.ndarray) -> bool:
    """Whether these are the numbers of many rows or columns, from which pictures compute long tables of floats."""
    return bool(x.dtype == np.float32 and max(x.shape, default=0) == x.size > 64 and np.ptp(np.diff(x.ravel())) == 0)


def _function(graph: Graph, equation: Any, inputs: list[Value]) -> list[Any]:
    """The results of a primitive that `FUNCTIONS` defines, which takes random keys as words."""
    arrays = [_array(graph, x) for x in inputs]
    words = [words_of(x) if is_key(var.aval) else x for x, var in zip(arrays, equation.invars, strict=True)]
    dtypes = [np.uint32 if is_key(var.aval) else var.aval.dtype for var in equation.invars]
    structs = tuple(jax.ShapeDtypeStruct(x.shape, dtype) for x, dtype in zip(words, dtypes, strict=True))
    fun = functools.partial(FUNCTIONS[equation.primitive.name], **equation.params)
    results = interpret_function(graph, fun, structs, words)[1]
    pairs = zip(results, equation.outvars, strict=True)
    return [keys_of(leaf.array) if is_key(var.aval) else leaf.array for leaf, var in pairs]


def _line(equation: Any) -> str:
    line = source_info_util.summarize(equation.source_info)
    return f" at {line}" if line and line != "unknown" else ""


# Programs inside the program.


def _cond(graph: Graph, equation: Any, inputs: list[Value], place: str) -> list[Value]:
    branches, (index, *operands) = equation.params["branches"], inputs
    if not isinstance(index, Array):
        branch = branches[int(index)]
        return interpret(graph, branch.jaxpr, branch.consts, operands, place)
    results = zip(*(interpret(graph, branch.jaxpr, branch.consts, operands, place) for branch in branches), strict=True)
    return [
        RULES["select_n"](Equation(graph, var.aval, {}), index, *(_array(graph, x) for x in cases))
        for var, cases in zip(equation.outvars, results, strict=True)
    ]


def _scan(graph: Graph, equation: Any, inputs: list[Value], place: str) -> list[Value]:
    params, closed = equation.params, equation.params["jaxpr"]
    # The names of the counts depend on JAX's version, but a scanned array always has one axis more outside than inside.
    outside, inside = (*equation.invars, *equation.outvars), (*closed.jaxpr.invars, *closed.jaxpr.outvars)
    is_scanned = [x.aval.ndim > y.aval.ndim for x, y in zip(outside, inside, strict=True)]
    num_rows, stacked = sum(is_scanned[: len(inputs)]), equation.outvars[is_scanned[len(inputs) :].count(False) :]
    num_carry = len(equation.outvars) - len(stacked)
    fixed, rows = inputs[: len(inputs) - num_rows], inputs[len(inputs) - num_rows :]
    consts, carry = fixed[: len(fixed) - num_carry], fixed[len(fixed) - num_carry :]
    outputs: list[list[Array]] = []
    order = range(params["length"])
    for step in reversed(order) if params["reverse"] else order:
        arguments = [*consts, *carry, *(_row(graph, x, step) for x in rows)]
        results = interpret(graph, closed.jaxpr, closed.consts, arguments, place)
        carry = [_made(graph, x) for x in results[:num_carry]]
        outputs.append([_array(graph, x) for x in results[num_carry:]])
    if params["reverse"]:
        outputs.reverse()
    if not outputs:
        return [*carry, *(np.zeros(var.aval.shape, var.aval.dtype) for var in stacked)]
    columns = zip(stacked, zip(*outputs, strict=True), strict=True)
    return [*carry, *(RULES["stack"](Equation(graph, var.aval, {"axis": 0}), *column) for var, column in columns)]


def _row(graph: Graph, x: Value, place: Any) -> Value:
    if not isinstance(x, Array):
        return np.asarray(x[place])
    return Array(graph, x.shape[1:], lambda index: x.at((place, *index)), computes=False)


def _platform_index(graph: Graph, equation: Any, inputs: list[Value], place: str) -> list[Value]:
    default = next(i for i, platforms in enumerate(equation.params["platforms"]) if platforms is None)
    return [np.asarray(default, np.int32)]


def _row_of(graph: Graph, equation: Any, inputs: list[Value], place: str) -> list[Value]:
    params, num_rows = equation.params, equation.params["num_rows"]
    number = graph.number(num_rows)

    def batch(row: Array) -> Array:
        def get(index: Index) -> Any:
            if index[0] != number:
                raise OtherRowError(
                    f"{params['name']} must compute each environment's row from that row alone. For functions that mix "
                    "environments, use envcore.rollout.run_rollout."
                )
            return row.at(index[1:])

        return Array(graph, (num_rows, *row.shape), get, computes=False)

    jaxpr, own = params["jaxpr"], params["num_own"]
    args = [batch(_array(graph, x)) if i < own else x for i, x in enumerate(inputs)]
    graph.num_rows = num_rows if num_rows > 1 else None
    results = interpret(graph, jaxpr, args[len(jaxpr.invars) :], args[: len(jaxpr.invars)], place)
    graph.num_rows = None
    return [_row(graph, _array(graph, x), number) for x in results]


_PROGRAMS: dict[str, Callable[..., list[Value]]] = {
    "cond": _cond,
    "scan": _scan,
    "platform_index": _platform_index,
    ROW_OF.name: _row_of,
}
