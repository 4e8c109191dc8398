"""Lowers a JAX function of one environment to a C function that loops over the rows of a batch."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
from envcore.typing import PyTree

from envcore_native import c
from envcore_native.arrays import fixed, leaves
from envcore_native.body import Body
from envcore_native.interpreter import interpret_function
from envcore_native.lane import AXIS
from envcore_native.scalars import Graph

MOST_UNROLLED = 64
"""The largest array whose elements are computed one by one. Loops compute larger arrays."""


def prelude() -> str:
    """The definitions at the start of all generated C."""
    defined = ["TABLE static const", "EXPORT", "put(array, place, value) array[place] = value"]
    return "\n".join([c.header("arithmetic.h"), *(f"#define {each}" for each in defined), ""])


@dataclasses.dataclass(frozen=True, eq=False)
class Function:
    """The source of a C function `name(int32 first, int32 end, void** arrays)` for the rows from `first` to `end` - 1.

    Attributes:
      source: the source code.
      rows: types of the results for one row, as `jax.ShapeDtypeStruct`.
    """

    source: str
    rows: PyTree


def lower(
    name: str,
    fun: Callable[[PyTree, PyTree], tuple[PyTree, PyTree]],
    shared: PyTree,
    row: PyTree,
    num_rows: int | None = None,
    most_unrolled: int = MOST_UNROLLED,
) -> Function:
    """Lowers a function of one row to C.

    The arrays of the C function are the leaves of `shared`, the leaves of `row` for all rows, and the results
    of `fun`.

    Args:
      name: name of the C function.
      fun: a function `(shared, row) -> (shared, row)`.
      shared: types of the inputs that all rows share, as `jax.ShapeDtypeStruct`.
      row: types of the inputs for one row.
      num_rows: size of the mapped axis, if `fun` uses `lax.axis_index`. None for a single environment.
      most_unrolled: the largest array whose elements are computed one by one. Loops compute larger arrays.

    Raises:
      InvalidArgumentError: a primitive or dtype is not supported.
    """
    graph = Graph(most_unrolled)
    inputs = leaves(graph, "shared", shared, fixed)
    graph.shared.update(leaf.name for leaf in inputs)
    num_shared = len(inputs)
    inputs += leaves(graph, "row", row, fixed)
    axes = [] if num_rows is None else [(AXIS, num_rows)]
    result, outputs, _ = interpret_function(graph, fun, (shared, row), [leaf.array for leaf in inputs], axes)
    num_shared_out = len(jax.tree.leaves(result[0]))
    body = Body(graph)
    for leaf in outputs[:num_shared_out]:
        body.compute(leaf.values)
        body.shared += [f"put({leaf.name}, {place}, {c.text(x)});" for place, x in enumerate(leaf.values)]
    for leaf in outputs[num_shared_out:]:
        body.store(leaf)
    pointers, rows = [], []
    for place, leaf in enumerate((*inputs, *outputs)):
        of_outputs = place - len(inputs)
        kind = f"{c.type_name(leaf.dtype)}*" if of_outputs >= 0 else f"const {c.type_name(leaf.dtype)}*"
        is_shared = place < num_shared or 0 <= of_outputs < num_shared_out
        pointer = leaf.name if is_shared else f"all_{leaf.name}"
        pointers.append(f"  {kind} __restrict__ const {pointer} = ({kind})arrays[{place}];")
        if not is_shared:
            rows.append(f"    {kind} const {leaf.name} = {pointer} + number * {leaf.array.size}l;")
    lines = [
        f"void {name}(int32 first, int32 end, void** arrays) {{",
        *body.tables,
        *pointers,
        *body.shared,
        "  for (int32 number = first; number < end; ++number) {",
        *rows,
        *body.lines,
        "  }",
        "}",
    ]
    return Function("\n".join(lines), result[1])
