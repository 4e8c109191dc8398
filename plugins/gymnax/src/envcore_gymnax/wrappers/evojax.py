"""gymnax's task for EvoJAX. Needs evojax."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from evojax.task.base import TaskState, VectorizedTask
from flax import struct

from envcore_gymnax.registration import make

# pyright: reportMissingImports=false, reportUntypedBaseClass=false


@struct.dataclass
class GymState(TaskState):
    """State of `GymnaxToEvoJaxTask`, for one episode or a batch.

    Attributes:
      state: the environment's state.
      obs: the observation.
      key: the random key of the next step.
    """

    state: Any
    obs: Any
    key: Any


class GymnaxToEvoJaxTask(VectorizedTask):
    """Wraps a batch of environments as an EvoJAX `VectorizedTask`. Episodes reset automatically.

    Args:
      env_name: an id for `make`.
      max_steps: the time limit in steps.
      test: whether EvoJAX uses this task for tests. It has no effect.

    Attributes:
      obs_shape: shape of an observation.
      act_shape, num_actions: the number of discrete actions, or the length of an action vector.
    """

    def __init__(self, env_name: str, max_steps: int = 1000, test: bool = False):
        self.max_steps, self.test = max_steps, test
        env, params = make(env_name)
        params = params.replace(max_steps_in_episode=max_steps)
        self.obs_shape, self.act_shape, self.num_actions = env.obs_shape, env.num_actions, env.num_actions

        @jax.jit
        @jax.vmap
        def reset(key: jax.Array) -> GymState:
            key_reset, key = jax.random.split(key)
            obs, state = env.reset(key_reset, params)
            return GymState(state, obs, key)

        @jax.jit
        @jax.vmap
        def step(task_state: GymState, action: jax.Array) -> tuple[GymState, jax.Array, jax.Array]:
            key_step, key = jax.random.split(task_state.key)
            obs, state, reward, *flags, _ = env.step(key_step, task_state.state, action, params)
            return GymState(state, obs, key), reward, functools.reduce(jnp.logical_or, flags)

        self._reset, self._step = reset, step

    def reset(self, key: jax.Array) -> GymState:
        """Starts an episode for each key."""
        return self._reset(key)

    def step(self, state: GymState, action: jax.Array) -> tuple[GymState, jax.Array, jax.Array]:
        """Takes one step in each episode. Returns the state, the rewards, and which episodes have ended."""
        return self._step(state, action)
