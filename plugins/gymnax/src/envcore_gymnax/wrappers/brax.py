"""gymnax's wrapper for brax, for any environment with gymnax's interface. Needs brax.

For envcore environments, `BraxEnv` of envcore-adapters follows brax's conventions more closely. It rescales actions and
separates time limits from terminations.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from brax.envs.base import Env, State


class GymnaxToBraxWrapper(Env):
    """Wraps an environment as a `brax.envs.Env` with auto-reset, so you do not need brax's `AutoResetWrapper`.

    `state.info` has `_key`, which is split for the next step, and `_env_params`.

    Args:
      env: an environment with gymnax's interface, whose `step` returns five or six values.
    """

    def __init__(self, env: Any):
        self.env = env

    def reset(self, rng: jax.Array, params: Any = None) -> State:
        """Starts an episode."""
        params = self.env.default_params if params is None else params
        key_reset, key = jax.random.split(rng)
        obs, state = self.env.reset(key_reset, params)
        zero = jnp.zeros((), jnp.float32)
        return State(state, obs, zero, zero, {}, {"_key": key, "_env_params": params})

    def step(self, state: State, action: jax.Array, params: Any = None) -> State:
        """Takes one step. `params` default to the params of the previous step."""
        params = state.info["_env_params"] if params is None else params
        key, key_step = jax.random.split(state.info["_key"])
        obs, after, reward, *flags, _ = self.env.step(key_step, state.pipeline_state, action, params)
        return state.replace(  # pyright: ignore[reportAttributeAccessIssue]  # flax adds it
            pipeline_state=after,
            obs=obs,
            reward=jnp.asarray(reward, jnp.float32),
            done=functools.reduce(jnp.logical_or, flags).astype(jnp.float32),
            info={**state.info, "_key": key, "_env_params": params},
        )

    @property
    def action_size(self) -> int:
        """The number of discrete actions, or the length of an action vector."""
        return self.env.num_actions

    @property
    def observation_size(self) -> Any:
        """Length of an observation, or its shape if it has more than one axis."""
        shape = self.env.observation_space(self.env.default_params).shape
        return shape[0] if len(shape) == 1 else shape

    @property
    def backend(self) -> str:
        """Always "jax"."""
        return "jax"
