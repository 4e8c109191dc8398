"""A policy that you can use by name: `envcore render WindyGridworld-v0 --policy windy --out windy.gif`."""

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
    """Follows the book's shortest path, along the upper edge to the right of the goal, and back below it."""

    def start_memory(self) -> tuple[()]:
        """Returns the memory at the start of an episode. This policy has none."""
        return ()

    def act(self, memory: tuple[()], obs: jax.Array, key: jax.Array) -> tuple[jax.Array, tuple[()]]:
        """Returns the action for a position, int32 (2,), and the new memory. The random key is unused."""
        row, column = obs
        turned = jnp.where(row < 4, _DOWN, _LEFT)
        return jnp.where(column == 9, turned, jnp.where((column == 8) & (row == 4), _LEFT, _RIGHT)), memory


def windy(env_id: str, env: Environment, params: WindyGridworldParams, argument: str) -> Windy:
    """Returns the policy for `--policy windy`.

    Args:
      env_id: the environment's id.
      env: the environment.
      params: the environment's params.
      argument: text after a colon that follows the name. This policy takes none.

    Raises:
      EnvcoreError: the environment is not the book's, or there is an argument.
    """
    is_the_books = env.unwrapped == WindyGridworld() and np.array_equal([params.start, params.goal], [[3, 0], [3, 7]])
    if argument or not is_the_books:
        raise EnvcoreError(f"the policy windy takes no argument, and plays the book's grid only, not this {env_id}.")
    return Windy()
