"""How much memory programs take, estimated before they begin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import jax
from envcore_runs.memory import tree_bytes

from envcore_baselines.learner import Learner


def episode_bytes(learner: Learner, params: Any, agent: Any) -> int:
    """About how many bytes one episode of an evaluation takes: its state, and what acting stores, each twice.

    Args:
      learner: of the agent.
      params: of the environment.
      agent: what `learner.act` takes.
    """
    key = jax.eval_shape(lambda: jax.random.key(0))
    started = jax.eval_shape(learner.env.reset, key, params), jax.eval_shape(learner.start_memory)
    (obs, _), memory = started
    return 2 * (tree_bytes(started) + largest_bytes(jax.make_jaxpr(learner.act)(agent, memory, obs, key)))


def largest_bytes(jaxpr: Any) -> int:
    """The bytes of the largest result of an operation in a program and in the programs that it calls."""

    def of_operation(operation: Any) -> int:
        # What `shard_map` returns is that of all devices; inside are the shares of one.
        own = 0 if operation.primitive.name == "shard_map" else tree_bytes([each.aval for each in operation.outvars])
        return max(own, *map(largest_bytes, _programs(operation.params.values())), 0)

    return max(map(of_operation, jaxpr.eqns), default=0)


def _programs(values: Iterable[Any]) -> Iterator[Any]:
    """The programs among an operation's parameters."""
    for value in values:
        if hasattr(value, "eqns"):
            yield value
        elif isinstance(value, tuple | list):
            yield from _programs(value)
