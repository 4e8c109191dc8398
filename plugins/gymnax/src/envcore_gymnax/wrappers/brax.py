"""gymnax's wrapper for brax, on any environment with gymnax's interface; needs brax.

For envcore's own environments, `BraxEnv` of envcore-adapters follows brax to the letter: bounds of actions, and time
limits told apart from terminations.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from brax.envs.base import Env, State


class GymnaxToBraxWrapper(Env):
    """An environment as a `brax.envs.Env`, which resets by itself: brax's `AutoResetWrapper` changes nothing more.

    `state.info` has `_key`, from which the key of the next step comes, and `_env_params`.

    Args:
      env: an environment with gymnax's interface, five values or six.
    """

    def __init__(self, env: Any):
        self.env = env

    def reset(self, rng: jax.Array, params: Any = None) -> State:
        """Begins an episode."""
        params = self.env.default_params if params is None else params
        key_reset, key = jax.random.split(rng)
        obs, state = self.env.reset(key_reset, params)
        zero = jnp.zeros((), jnp.float32)
        return State(state, obs, zero, zero, {}, {"_key": key, "_env_params": params})

    def step(self, state: State, action: jax.Array, params: Any = None) -> State:
        """Takes one step; without `params`, with those of the one before."""
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
        """The number of actions, or the length of an action."""
        return self.env.num_actions

    @property
    def observation_size(self) -> Any:
        """Length of an observation, or its shape if that has more than one axis."""
        shape = self.env.observation_space(self.env.default_params).shape
        return shape[0] if len(shape) == 1 else shape

    @property
    def backend(self) -> str:
        """Always "jax"."""
        return "jax"
