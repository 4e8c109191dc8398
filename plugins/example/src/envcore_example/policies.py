"""A policy that plays under a name: `envcore render WindyGridworld-v0 --policy windy --out windy.gif`."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from envcore import EnvcoreError, Environment

from envcore_example.windy_gridworld import WindyGridworld, WindyGridworldParams

_RIGHT, _DOWN, _LEFT = np.int32(1), np.int32(2), np.int32(3)


@dataclasses.dataclass(frozen=True)
class Windy:
    """Takes the shortest path of the book: along the upper edge to the right of the goal, and back below it."""

    def start_memory(self) -> tuple[()]:
        """What it remembers at the start of an episode: nothing."""
        return ()

    def act(self, memory: tuple[()], obs: jax.Array, key: jax.Array) -> tuple[jax.Array, tuple[()]]:
        """The action for a position, int32 (2,), and what it remembers after it. It needs no random key."""
        row, column = obs
        turned = jnp.where(row < 4, _DOWN, _LEFT)
        return jnp.where(column == 9, turned, jnp.where((column == 8) & (row == 4), _LEFT, _RIGHT)), memory


def windy(env_id: str, env: Environment, params: WindyGridworldParams, argument: str) -> Windy:
    """What `--policy windy` plays.

    Args:
      env_id: the id of the environment.
      env: the environment.
      params: its params.
      argument: what follows a colon after the name, which this policy ignores.

    Raises:
      EnvcoreError: it is not the book's environment.
    """
    if env.unwrapped != WindyGridworld():
        raise EnvcoreError(f"the policy windy plays WindyGridworld-v0, not {env_id}.")
    return Windy()
