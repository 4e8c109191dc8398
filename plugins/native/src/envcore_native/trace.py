"""Traces a rollout of one environment and lowers it to C++ that compiles for CUDA and CPUs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence

import jax
import numpy as np
from envcore import rollout
from envcore.environment import Environment
from envcore.rollout import Policy, RolloutState, Transition
from envcore.typing import PyTree

from envcore_native import c
from envcore_native.arrays import Dense, Leaf, fixed, inputs, leaves
from envcore_native.body import Body
from envcore_native.c import text, type_name
from envcore_native.interpreter import interpret_function
from envcore_native.lane import AXIS, lane_of, state_struct
from envcore_native.rows import by_row
from envcore_native.scalars import BY_ENVIRONMENT, BY_STEP, Graph, Scalar, live


@dataclasses.dataclass(frozen=True, eq=False)
class Program:
    """The three functions of a rollout, which `kernels.play` calls in this order.

    Attributes:
      keys: source of the function that stores the key of every step.
      table: source of the function that stores one row per step, with the values that all environments share.
      rollout: source of the function that runs one environment.
      width: words per row of the table.
      closed_over: traced arrays that the policy or `collect` closes over, which become additional inputs.
      stacked: types of the values that one environment stores per step, as `jax.ShapeDtypeStruct`.
    """

    keys: str
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
      InvalidArgumentError: the program uses an operation that is not supported.
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
    key = Leaf("key", inputs(graph, "key", (2,), np.uint32, BY_STEP), np.dtype(np.uint32))
    states = leaves(graph, "state", state, inputs)
    fixed_leaves = leaves(graph, "fixed", (params, policy_params), fixed)
    result, outputs, closed_over = interpret_function(
        graph,
        step,
        (jax.ShapeDtypeStruct((2,), np.uint32), state, (params, policy_params)),
        [leaf.array for leaf in (key, *states, *fixed_leaves)],
        axes=[(AXIS, env.batch_shape[0])] if env.batch_shape else [],
    )
    fixed_leaves += [leaf for _, leaf in closed_over]
    next_key, *others = outputs
    next_states, stacked = others[: len(states)], others[len(states) :]
    columns = shared_columns(key.values, [x for leaf in (*next_states, *stacked) for x in leaf.values])
    words = [graph.apply("op_bitcast", np.uint32, x) for x in columns]
    row = Leaf("row", Dense(graph, np.array(words, object)), key.dtype)
    return Program(
        keys=rollout_function(graph, [], [key], [], [next_key], [dataclasses.replace(key, name="keys")]),
        table=rollout_function(graph, [], [key], [], [next_key], [row]),
        rollout=rollout_function(graph, columns, states, fixed_leaves, next_states, stacked),
        width=len(columns),
        closed_over=[value for value, _ in closed_over],
        stacked=result[2],
    )


def shared_columns(key: Iterable[Scalar], values: list[Scalar]) -> list[Scalar]:
    """The columns of the table: the key, and the scalars that all environments share and the values depend on."""
    used = [x for each in live(values, set()) if each.varies == BY_ENVIRONMENT for x in each.operands]
    columns = {x.number: x for x in (*key, *values, *used) if x.varies == BY_STEP}
    return [columns[number] for number in sorted(columns)]


def rollout_function(
    graph: Graph,
    columns: Sequence[Scalar],
    state: Sequence[Leaf],
    fixed: Sequence[Leaf],
    next_state: Sequence[Leaf],
    stacked: Sequence[Leaf],
) -> str:
    """Writes a function that loops over the steps of one environment.

    It stores `stacked` in each step and the state at the end. One thread per environment calls it. `columns` are read
    from a table.
    """
    body = Body(graph, columns)
    for leaf in stacked:
        body.store(leaf)
    old, new = ([x for leaf in leaves for x in leaf.values] for leaves in (state, next_state))
    body.compute(new)
    rows = [f"{type_name(leaf.dtype)}, {len(leaf.values)}, {leaf.name}" for leaf in stacked]
    table = [c.bits(f"row[(size_t)t * {len(columns)} + {i}]", np.uint32, x.dtype) for i, x in enumerate(columns)]
    begins, ends = [], []
    for leaf, end in zip(state, next_state, strict=True):
        for i, x in enumerate(leaf.values):
            place = f"[(size_t)n * {len(leaf.values)} + {i}]"
            begins.append(f"{type_name(x.dtype)} {text(x)} = {leaf.name}{place};")
            ends.append(f"{end.name}{place} = {text(x)};")
    pointers = ["const uint32* __restrict__ row"] if columns else []
    pointers += [f"const {type_name(x.dtype)}* __restrict__ {x.name}" for x in (*fixed, *state)]
    pointers += [f"{type_name(x.dtype)}* __restrict__ {x.name}" for x in next_state]
    pointers += [f"{type_name(x.dtype)}* __restrict__ all_{x.name}" for x in stacked]
    return "\n".join(
        [
            *body.tables,
            f"FN void rollout(int thread, int count, int num_steps, {', '.join(pointers)}) {{",
            "STAGE",
            "const int number = n;",
            *begins,
            "for (int t = 0; t < num_steps; ++t) {",
            *(f"ROW({row})" for row in rows),
            *(f"const {type_name(x.dtype)} {text(x)} = {word};" for x, word in zip(columns, table, strict=True)),
            *body.shared,
            *body.lines,
            *(f"const {type_name(a.dtype)} next_{text(a)} = {text(b)};" for a, b in zip(old, new, strict=True)),
            *(f"{text(a)} = next_{text(a)};" for a in old),
            "}",
            *ends,
            "}",
        ]
    )
