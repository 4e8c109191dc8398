"""What the engine is given and what it makes of a step: `Env`, `Outcome`, `Info`."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax

from envcore.typing import PyTree

Env = Any
"""An `envcore.environment.Environment`. It imports the engine, which does not look back, not even for types."""

Info = dict[str, PyTree]


class Outcome(NamedTuple):
    """What one step of an episode leads to.

    Attributes:
      state: the state after the step, before any reset.
      reward: float32 ().
      terminated: bool (), the episode has come to an end of its own.
      truncated: bool (), the time limit is reached.
      info: the environment's own entries.
    """

    state: PyTree
    reward: jax.Array
    terminated: jax.Array
    truncated: jax.Array
    info: Info


def own_info(info: Info) -> Info:
    """The environment's own entries of `info`, without those that every environment has: for adapters."""
    return {name: value for name, value in info.items() if name not in _OF_EVERY_ENVIRONMENT}


_OF_EVERY_ENVIRONMENT = ("discount", "final_obs", "terminated", "truncated")
