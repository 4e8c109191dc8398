"""Functions of a batch, applied to one environment of it."""

from __future__ import annotations

from collections.abc import Callable

import jax
import numpy as np
from envcore.errors import InvalidArgumentError
from envcore.typing import PyTree

from envcore_fused.interpreter import interpret_function
from envcore_fused.scalars import Graph, Scalar, live


def by_row(name: str, fun: Callable[[PyTree, PyTree], PyTree]) -> Callable[..., PyTree]:
    """`fun(batch, shared)` as a function of one row of the batch.

    It raises `InvalidArgumentError` where a row of the result does not depend on that row of the batch alone, in the
    same way for every row.
    """

    def of_row(row: PyTree, shared: PyTree = None) -> PyTree:
        _check(name, fun, row, shared)
        return jax.tree.map(lambda x: x[0], fun(jax.tree.map(lambda x: x[None], row), shared))

    return of_row


def _check(name: str, fun: Callable[[PyTree, PyTree], PyTree], row: PyTree, shared: PyTree) -> None:
    """Compares the scalars computed from two rows, from the same rows exchanged, and from one row alone."""
    graph = Graph()
    first, second = (_leaves(kind, row, graph.inputs) for kind in "ab")
    others = _leaves("s", shared, graph.fixed)

    def results(*rows: list[np.ndarray]) -> list[np.ndarray]:
        batch = [np.stack(leaves) for leaves in zip(*rows, strict=True)]
        structs = [jax.ShapeDtypeStruct((len(rows), *x.shape), x.dtype) for x in jax.tree.leaves(row)]
        struct = jax.tree.unflatten(jax.tree.structure(row), structs)
        leaves = interpret_function(graph, fun, (struct, shared), [*batch, *others])[1]
        if any(x.ndim == 0 or len(x) != len(rows) for x in leaves):
            raise InvalidArgumentError(
                f"{name} must return arrays with the batch's axis, and be computed for any number of environments: "
                f"for {len(rows)} it returned shapes {[x.shape for x in leaves]}."
            )
        return leaves

    both, exchanged, alone = results(first, second), results(second, first), results(first)
    foreign = {x.number for leaf in second for x in leaf.flat}
    for straight, crossed, single in zip(both, exchanged, alone, strict=True):
        rows = [list(x.flat) for x in (straight[:1], crossed[1:], single)]
        used: list[Scalar] = live(rows[0], set())
        if not all(x is y is z for x, y, z in zip(*rows, strict=True)) or any(x.number in foreign for x in used):
            raise InvalidArgumentError(
                f"{name} must compute each environment's row from that environment's row alone, for envcore_fused: "
                "use envcore.rollout.run_rollout."
            )


def _leaves(kind: str, tree: PyTree, inputs: Callable[..., np.ndarray]) -> list[np.ndarray]:
    return [inputs(f"{kind}{i}", x.shape, x.dtype) for i, x in enumerate(jax.tree.leaves(tree))]
