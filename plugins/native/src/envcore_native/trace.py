"""The program of a rollout, traced for one environment and lowered to source."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import numpy as np
from envcore import rollout
from envcore.environment import Environment
from envcore.rollout import Policy, RolloutState, Transition
from envcore.typing import PyTree

from envcore_native import source
from envcore_native.arrays import fixed, inputs
from envcore_native.body import KEY_WORDS, Leaf, leaves
from envcore_native.interpreter import interpret_function
from envcore_native.lane import AXIS, lane_of, state_struct
from envcore_native.rows import by_row
from envcore_native.scalars import BY_STEP, Graph


@dataclasses.dataclass(frozen=True, eq=False)
class Program:
    """Source for a rollout, and what its functions take.

    Attributes:
      table: the function that computes what all environments share.
      rollout: the function that plays one environment.
      width: words of a row of the table.
      closed_over: traced arrays that the policy or `collect` refers to, which are further inputs.
      stacked: what a step of one environment stores, as `jax.ShapeDtypeStruct`.
    """

    table: str
    rollout: str
    width: int
    closed_over: list[jax.Array]
    stacked: PyTree


def lower(
    env: Environment, policy: Policy, collect: Callable[[Transition], PyTree], params: PyTree, policy_params: PyTree
) -> Program:
    """Lowers a step of `run_rollout(env, policy, ..., collect=collect)`.

    Raises:
      InvalidArgumentError: it cannot be lowered.
    """
    lane, state = lane_of(env), state_struct(env)
    own_policy, own_collect = policy, collect
    if env.batch_shape:
        num_rows = env.batch_shape[0]
        choose = by_row("the policy", lambda obs, shared: policy(shared[0], obs, shared[1]), num_rows)
        own_policy = lambda policy_params, obs, key: choose(obs, (policy_params, key))  # noqa: E731
        own_collect = by_row("collect", lambda transition, _: collect(transition), num_rows)

    def step(key: jax.Array, state: PyTree, fixed: PyTree) -> PyTree:
        start, (params, policy_params) = RolloutState(key, state), fixed
        end, stacked = rollout.run_rollout(lane, own_policy, start, 1, params, policy_params, collect=own_collect)
        return end.key, end.state, jax.tree.map(lambda x: x[0], stacked)

    graph = Graph()
    key = inputs(graph, "key", (KEY_WORDS,), np.uint32, BY_STEP)
    states = leaves(graph, "state", state, inputs)
    fixed_leaves = leaves(graph, "fixed", (params, policy_params), fixed)
    result, outputs, closed_over = interpret_function(
        graph,
        step,
        (jax.ShapeDtypeStruct(key.shape, np.uint32), state, (params, policy_params)),
        [key, *(leaf.array for leaf in (*states, *fixed_leaves))],
        axes=[(AXIS, env.batch_shape[0])] if env.batch_shape else [],
    )
    fixed_leaves += [Leaf(f"closed{i}", values, value.dtype) for i, (value, values) in enumerate(closed_over)]
    next_key, *others = [
        Leaf(f"out{i}", x, s.dtype) for i, (x, s) in enumerate(zip(outputs, jax.tree.leaves(result), strict=True))
    ]
    next_states, stacked = others[: len(states)], others[len(states) :]
    wanted = [x for leaf in (*next_states, *stacked) for x in leaf.values]
    columns = source.shared_columns(wanted)
    text = source.rollout_function(columns, *map(_filled, (states, fixed_leaves, next_states, stacked)))
    return Program(
        table=source.table_function(columns, list(key.scalars()), next_key.values),
        rollout=text,
        width=KEY_WORDS + len(columns),
        closed_over=[value for value, _ in closed_over],
        stacked=result[2],
    )


def _filled(leaves: list[Leaf]) -> list[Leaf]:
    return [leaf for leaf in leaves if leaf.array.size]
