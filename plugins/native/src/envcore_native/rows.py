"""Turns functions of a batch into functions of one environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from envcore.errors import InvalidArgumentError
from envcore.typing import PyTree
from jax.extend.core import Primitive

ROW_OF = Primitive("row_of")
"""Computes one row of a jaxpr's results from one row of its batch."""
ROW_OF.multiple_results = True


@ROW_OF.def_abstract_eval
def _(*avals: Any, jaxpr: Any, num_rows: int, num_own: int, name: str) -> Sequence[Any]:
    return [var.aval.update(shape=var.aval.shape[1:]) for var in jaxpr.outvars]


class OtherRowError(InvalidArgumentError):
    """A row of the result depends on another row of the batch."""


def by_row(name: str, fun: Callable[[PyTree, PyTree], PyTree], num_rows: int) -> Callable[..., PyTree]:
    """Makes a function of one row from `fun(batch, shared)`, for the interpreter.

    The function raises `InvalidArgumentError` if the result doesn't have `num_rows` rows. The interpreter raises
    `OtherRowError` if a row of the result depends on another row of the batch.
    """

    def of_row(row: PyTree, shared: PyTree = None) -> PyTree:
        batch = jax.tree.map(lambda x: jax.ShapeDtypeStruct((num_rows, *x.shape), x.dtype), row)
        closed, result = jax.make_jaxpr(fun, return_shape=True)(batch, shared)
        shapes = [x.shape for x in jax.tree.leaves(result)]
        if any(shape[:1] != (num_rows,) for shape in shapes):
            raise InvalidArgumentError(
                f"{name} must return arrays with the batch axis first: for {num_rows} environments it returned shapes "
                f"{shapes}."
            )
        own = jax.tree.leaves(row)
        inputs = [*own, *jax.tree.leaves(shared), *closed.consts]
        rows = ROW_OF.bind(*inputs, jaxpr=closed.jaxpr, num_rows=num_rows, num_own=len(own), name=name)
        return jax.tree.unflatten(jax.tree.structure(result), rows)

    return of_row
