"""Functions of a batch, applied to one environment of it."""

from __future__ import annotations

from collections.abc import Callable

import jax
import numpy as np
from envcore.errors import InvalidArgumentError
from envcore.typing import PyTree

from envcore_native.arrays import Array, Dense, fixed, inputs
from envcore_native.body import leaves
from envcore_native.interpreter import ROW, interpret_function
from envcore_native.scalars import Graph, Scalar, live

_NAMES_OF_ROWS = "abcdefg"  # a draw for all rows together should not happen to be as long: seven is rare


def by_row(name: str, fun: Callable[[PyTree, PyTree], PyTree]) -> Callable[..., PyTree]:
    """`fun(batch, shared)` as a function of one row of the batch.

    It raises `InvalidArgumentError` where a row of the result does not depend on that row of the batch alone, in the
    same way for every row. Random draws whose first axis is the batch's have the row's part of it.
    """

    def of_row(row: PyTree, shared: PyTree = None) -> PyTree:
        _check(name, fun, row, shared)

        def alone(row: PyTree, shared: PyTree) -> PyTree:
            return jax.tree.map(lambda x: x[0], fun(jax.tree.map(lambda x: x[None], row), shared))

        alone.__name__ = ROW
        return jax.jit(alone)(row, shared)

    return of_row


def _check(name: str, fun: Callable[[PyTree, PyTree], PyTree], row: PyTree, shared: PyTree) -> None:
    """Compares the scalars computed from some rows, from the same with two exchanged, and from one row alone."""
    graph = Graph()
    batch = [
        (graph.input(f"{kind}_number", np.int32), _leaves(graph, f"{kind}_", row, inputs)) for kind in _NAMES_OF_ROWS
    ]
    others = _leaves(graph, "shared", shared, fixed)

    def results(*rows: tuple[Scalar, list[Array]]) -> list[np.ndarray]:
        leaves = [
            Dense(graph, np.stack([x.scalars() for x in values]))
            for values in zip(*(values for _, values in rows), strict=True)
        ]
        structs = [jax.ShapeDtypeStruct((len(rows), *x.shape), x.dtype) for x in jax.tree.leaves(row)]
        struct = jax.tree.unflatten(jax.tree.structure(row), structs)
        with graph.drawing([number for number, _ in rows]):
            leaves = [x.scalars() for x in interpret_function(graph, fun, (struct, shared), [*leaves, *others])[1]]
        if any(x.ndim == 0 or len(x) != len(rows) for x in leaves):
            raise InvalidArgumentError(
                f"{name} must return arrays with the batch's axis, and be computed for any number of environments: "
                f"for {len(rows)} it returned shapes {[x.shape for x in leaves]}."
            )
        return leaves

    first, second, *rest = batch
    all_rows, exchanged, alone = results(*batch), results(second, first, *rest), results(first)
    foreign = {
        x.number for number, leaves in batch[1:] for x in (number, *(x for leaf in leaves for x in leaf.scalars().flat))
    }
    for straight, crossed, single in zip(all_rows, exchanged, alone, strict=True):
        rows = [list(x.flat) for x in (straight[:1], crossed[1:2], single)]
        used: list[Scalar] = live(rows[0], set())
        if not all(x is y is z for x, y, z in zip(*rows, strict=True)) or any(x.number in foreign for x in used):
            raise InvalidArgumentError(
                f"{name} must compute each environment's row from that environment's row alone, for envcore_native: "
                "use envcore.rollout.run_rollout."
            )


def _leaves(graph: Graph, kind: str, tree: PyTree, inputs: Callable[..., Array]) -> list[Array]:
    return [leaf.array for leaf in leaves(graph, kind, tree, inputs)]
