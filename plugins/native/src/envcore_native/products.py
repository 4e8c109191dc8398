"""The rule of matrix products: sums of a few products, or layers of a network, whose units are in shared memory."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from envcore_native.arrays import Array, Dense, each_of, memory_of
from envcore_native.rules import Equation, TooManyError, convert, filled
from envcore_native.scalars import Graph, Scalar

_MOST_TERMS = 64


def _dot_general(eqn: Equation, x: Array, y: Array) -> Array:
    """Every `precision` gets what the highest one asks for: products and sums of float32."""
    graph, aval = eqn.graph, eqn.aval
    (x_contracted, y_contracted), (x_batch, y_batch) = eqn.params["dimension_numbers"]
    to_result = functools.partial(each_of, functools.partial(convert, graph, aval.dtype))
    rows = _matrices(filled(to_result(x.scalars()), x.shape), x_batch, x_contracted)
    columns = _matrices(filled(to_result(y.scalars()), y.shape), y_batch, y_contracted)
    result = np.stack([_product(graph, aval, *pair) for pair in zip(rows, columns, strict=True)])
    return Dense(graph, result.reshape(aval.shape))


def _matrices(x: np.ndarray, batch: Sequence[int], contracted: Sequence[int]) -> np.ndarray:
    """The array with three axes: of the batch, the free one and the contracted one."""
    free = [axis for axis in range(x.ndim) if axis not in (*batch, *contracted)]
    shape = [math.prod(x.shape[axis] for axis in axes) for axes in (batch, free, contracted)]
    return x.transpose(*batch, *free, *contracted).reshape(shape)


def _product(graph: Graph, aval: Any, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The products of all rows [R, K] with all columns [M, K]."""
    memory = memory_of(columns)
    if memory is None and memory_of(rows) is not None:
        return _product(graph, aval, columns, rows).T
    is_array = memory is not None and isinstance(memory.of, str)
    # Neither depends on the number of rows, so that each is computed in the same way.
    if columns.size <= _MOST_TERMS and not (is_array and aval.dtype == np.float32):
        result = np.empty((len(rows), len(columns)), object)
        for place in np.ndindex(result.shape):
            result[place] = _sum(graph, aval, rows[place[0]], columns[place[1]])
        return result
    if memory is None or aval.dtype != np.float32:
        problem = "is computed, not an array of params" if memory is None else f"has elements of {aval.dtype}"
        raise TooManyError(f"a matrix {[*columns.shape[::-1]]} that {problem}")
    result = np.empty((len(rows), len(columns)), object)
    for place, row in enumerate(rows):
        row = _before_conversion(row)
        units = graph.apply("units", row[0].dtype, *row)
        product = graph.apply("product", np.float32, memory, len(columns), units)
        result[place] = [graph.apply("unit", np.float32, product, number) for number in range(len(columns))]
    return result


def _before_conversion(row: np.ndarray) -> Sequence[Scalar]:
    """Units of one byte, such as an image's, where the row is made of them: shared memory has place for more."""
    before = [x.operands[0] if x.op == "op_convert" else x for x in row]
    types = {x.dtype for x in before}
    return before if len(types) == 1 and before[0].dtype.itemsize == 1 else list(row)


def _sum(graph: Graph, aval: Any, xs: np.ndarray, ys: np.ndarray) -> Scalar:
    total = graph.constant(0, aval.dtype)
    for x, y in zip(xs, ys, strict=True):
        total = graph.apply("op_add", aval.dtype, total, graph.apply("op_mul", aval.dtype, x, y))
    return total


RULES = {"dot_general": _dot_general}
