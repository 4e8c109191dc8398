"""What training asks of an algorithm."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from envcore.environment import Environment


class EpisodeTotals(NamedTuple):
    """Sums over the episodes that ended.

    Attributes:
      returns: of their returns, float32 ().
      episodes: their number, int32 ().
    """

    returns: jax.Array
    episodes: jax.Array

    @classmethod
    def of(cls, info: dict[str, Any]) -> EpisodeTotals:
        """The totals of one step of a batch, from the `info` of `LogWrapper`."""
        ended = info["returned_episode"]
        return cls(
            jnp.where(ended, info["returned_episode_returns"], 0).sum(dtype=jnp.float32),
            ended.sum(dtype=jnp.int32),
        )


class Learner(Protocol):
    """An algorithm for one environment. Its methods are pure functions, to be jitted, scanned and mapped over seeds."""

    @property
    def env(self) -> Environment[Any, Any]:
        """The environment whose observations `act` takes."""
        ...

    @property
    def steps_per_update(self) -> int:
        """Environment steps of one update."""
        ...

    @property
    def num_updates(self) -> int:
        """Updates of a run."""
        ...

    def init(self, key: jax.Array) -> Any:
        """The state before the first update; its attribute `agent` is what `act` takes."""
        ...

    def update(self, state: Any) -> tuple[Any, EpisodeTotals]:
        """The next state, and the totals of the episodes that ended on the way."""
        ...

    def start_memory(self) -> Any:
        """What an agent remembers at the start of an episode, a pytree of arrays; () for one that remembers nothing."""
        ...

    def act(self, agent: Any, memory: Any, obs: Any, key: jax.Array, greedy: bool = False) -> tuple[Any, Any]:
        """The action for one observation, without chance if `greedy`; and what the agent remembers after it."""
        ...


def as_floats(obs: jax.Array) -> jax.Array:
    """Observations as a network reads them, float32.

    XLA's CPU backend often converts pictures of bools in 1 to 3 ns a number, but chooses between two floats in 0.2.
    """
    return jnp.where(obs, np.float32(1), np.float32(0)) if obs.dtype == jnp.bool_ else obs.astype(jnp.float32)
