"""The programs of a rollout, traced for one environment and lowered to source."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np
from envcore import rollout
from envcore.environment import Environment
from envcore.typing import PyTree

from envcore_fused import source
from envcore_fused.interpreter import interpret
from envcore_fused.lane import AXIS, Lane
from envcore_fused.scalars import BY_ENVIRONMENT, BY_STEP, Graph
from envcore_fused.source import Leaf


@dataclasses.dataclass(frozen=True)
class Program:
    """Source for a rollout, and what its kernels take.

    Attributes:
      text: C++ and CUDA.
      state: type of one environment's state, by leaf.
      stacked: type of what a step stores, by leaf.
      totals: type of what is summed, by leaf.
      num_columns: words a step in the tables of `start` and the rollout.
    """

    text: str
    state: list[jax.ShapeDtypeStruct]
    stacked: list[jax.ShapeDtypeStruct]
    totals: list[jax.ShapeDtypeStruct]
    num_columns: tuple[int, int]


def lower(env: Environment, params: PyTree, num_envs: int, collect: Any, total: Any) -> Program:
    """Lowers `run_rollout(Batched(env, num_envs), random_policy)`.

    Args:
      env: one environment.
      params: its params.
      num_envs: size of the batch.
      collect: what of a `Transition` to store of every step, as for `run_rollout`.
      total: what of it to sum.
    """
    lane = Lane(env)
    key = jax.ShapeDtypeStruct((2,), np.uint32)

    def begin(key: jax.Array) -> PyTree:
        return rollout.start_rollout(lane, key, params)

    def step(start: PyTree) -> PyTree:
        policy = rollout.random_policy(lane, params)
        return rollout.run_rollout(
            lane, policy, start, 1, params, collect=lambda transition: (collect(transition), total(transition))
        )

    first_key, started = _interpreted(num_envs, begin, key)
    before, (after, (stacked, totals)) = _interpreted(num_envs, step, _struct(started))
    stacked, totals = _unstacked(stacked), _unstacked(totals)
    columns = source.shared_columns(_scalars(started.state))
    loop_columns = source.shared_columns(_scalars((after.state, stacked, totals)))
    text = "\n\n".join(
        [
            source.table_kernel("start_table", columns, first_key.flat, started.key.flat),
            source.start_kernel(columns, _leaves("state", started.state)),
            source.table_kernel("table", loop_columns, before.key.flat, after.key.flat),
            source.rollout_kernel(
                loop_columns,
                state=_leaves("state", before.state),
                next_state=_leaves("state", after.state),
                stacked=_leaves("stacked", stacked),
                totals=_leaves("total", totals),
            ),
        ]
    )
    state, steps, sums = (jax.tree.leaves(_struct(tree)) for tree in (started.state, stacked, totals))
    return Program(text, state, steps, sums, (len(columns), len(loop_columns)))


def _interpreted(num_envs: int, fun: Any, argument: PyTree) -> tuple[PyTree, PyTree]:
    """The function's argument and its results as arrays of scalars."""
    closed, result = jax.make_jaxpr(fun, axis_env=[(AXIS, num_envs)], return_shape=True)(argument)
    graph, leaves, inputs = Graph(), jax.tree.leaves(argument), []
    for number, leaf in enumerate(leaves):
        array = np.empty(leaf.shape, object)
        for place, index in enumerate(np.ndindex(leaf.shape)):
            array[index] = graph.input(f"in{number}_{place}", leaf.dtype, varies=BY_ENVIRONMENT if number else BY_STEP)
        inputs.append(array)
    outputs = [graph.array(x) for x in interpret(graph, closed.jaxpr, closed.consts, inputs)]
    return (
        jax.tree.unflatten(jax.tree.structure(argument), inputs),
        jax.tree.unflatten(jax.tree.structure(result), outputs),
    )


def _scalars(tree: PyTree) -> list[Any]:
    return [scalar for leaf in jax.tree.leaves(tree) for scalar in leaf.flat]


def _leaves(name: str, tree: PyTree) -> list[Leaf]:
    return [Leaf(f"{name}{i}", x) for i, x in enumerate(jax.tree.leaves(tree))]


def _unstacked(tree: PyTree) -> PyTree:
    return jax.tree.map(lambda x: x.reshape(x.shape[1:]), tree)


def _struct(tree: PyTree) -> PyTree:
    return jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.flat[0].dtype), tree)
