"""How much memory training and evaluation take, estimated before they begin."""

from __future__ import annotations

from typing import Any

import jax
from envcore_runs.memory import tree_bytes

from envcore_baselines.learner import Learner


def training_bytes(learner: Learner, start: Any) -> int:
    """About how many bytes the training of one agent takes: its state and what an update stores, each twice.

    Args:
      learner: of the agent.
      start: what `learner.init` takes, or its `jax.ShapeDtypeStruct`.
    """
    state = jax.eval_shape(learner.init, start)
    return 2 * (tree_bytes(state) + _largest_bytes(learner.update, state))


def episode_bytes(learner: Learner, params: Any, agents: Any) -> int:
    """About how many bytes one episode of an evaluation takes: its state, and what acting stores, each twice.

    Args:
      learner: of the agents.
      params: of the environment.
      agents: what `learner.act` takes, with a leading axis for agents.
    """
    agent = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), agents)
    key = jax.eval_shape(lambda: jax.random.key(0))
    started = jax.eval_shape(learner.env.reset, key, params), jax.eval_shape(learner.start_memory)
    (obs, _), memory = started
    return 2 * (tree_bytes(started) + _largest_bytes(learner.act, agent, memory, obs, key))


def _largest_bytes(fun: Any, *args: Any) -> int:
    """The bytes of the largest result of an operation of a function."""
    operations = jax.make_jaxpr(fun)(*args).eqns
    return max((tree_bytes([each.aval for each in operation.outvars]) for operation in operations), default=0)
