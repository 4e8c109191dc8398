"""gymnax's wrapper that returns a `TimeStep` similar to dm_env's. It does not need dm_env.

For code written for dm_env itself, use `DmEnv` of envcore-adapters.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from envcore_gymnax.settings import returns_six_values
from envcore_gymnax.wrappers.purerl import GymnaxWrapper, compiled


@struct.dataclass
class TimeStep:
    """The result of a step.

    Attributes:
      state: the environment's state.
      reward: float32 (), 0 after a reset.
      discount: float32 (), 0 if the episode has ended, else 1. With six values, time limits do not count.
      observation: the observation. If the episode has ended, the first one of the next episode.
      final_observation: with six values, the observation before an auto-reset. Otherwise None.
    """

    state: Any
    reward: Any
    discount: Any
    observation: Any
    final_observation: Any = None


class GymnaxToDmEnvWrapper(GymnaxWrapper):
    """Makes `reset` and `step` return a `TimeStep` instead of separate values. `step` resets automatically."""

    @compiled
    def reset(self, key: jax.Array, params: Any = None) -> TimeStep:
        """Starts an episode."""
        obs, state = self._env.reset(key, params)
        final_obs = obs if returns_six_values() else None
        return TimeStep(state, jnp.zeros((), jnp.float32), jnp.ones((), jnp.float32), obs, final_obs)

    @compiled
    def step(self, key: jax.Array, timestep: TimeStep, action: Any, params: Any = None) -> TimeStep:
        """Takes one step."""
        obs, state, reward, ended, *_, info = self._env.step(key, timestep.state, action, params)
        discount = jnp.where(ended, jnp.float32(0), jnp.float32(1))
        final_obs = None if timestep.final_observation is None else info["final_observation"]
        return TimeStep(state, jnp.asarray(reward, jnp.float32), discount, obs, final_obs)
