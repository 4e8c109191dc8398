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

from envcore_gymnax.settings import returns_six_values
from envcore_gymnax.wrappers.purerl import check_values


class GymnaxToBraxWrapper(Env):
    """An environment as a `brax.envs.Env`, which resets by itself: brax's `AutoResetWrapper` changes nothing more.

    `state.info` has `_key`, from which the key of the next step comes, and `_env_params`; with six values also
    `terminated`, `truncated`, `discount` and `final_observation`.

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
        zero, no = jnp.zeros((), jnp.float32), jnp.zeros((), jnp.bool_)
        info = {"_key": key, "_env_params": params}
        if returns_six_values():
            info |= {"terminated": no, "truncated": no, "discount": zero + 1, "final_observation": obs}
        return State(state, obs, zero, zero, {}, info)

    def step(self, state: State, action: jax.Array, params: Any = None) -> State:
        """Takes one step; without `params`, with those of the one before.

        Raises:
          InvalidActionError: an action on the host is no choice of a discrete space, or not finite.
        """
        params = state.info["_env_params"] if params is None else params
        check_values(self.env, action, params)
        key, key_step = jax.random.split(state.info["_key"])
        obs, after, reward, *flags, found = self.env.step(key_step, state.pipeline_state, action, params)
        ends = {name: found[name] for name in ("terminated", "truncated", "final_observation") if name in state.info}
        if ends:
            ends["discount"] = jnp.where(flags[0], jnp.float32(0), jnp.float32(1))
        return state.replace(  # pyright: ignore[reportAttributeAccessIssue]  # flax adds it
            pipeline_state=after,
            obs=obs,
            reward=jnp.asarray(reward, jnp.float32),
            done=functools.reduce(jnp.logical_or, flags).astype(jnp.float32),
            info={**state.info, **ends, "_key": key, "_env_params": params},
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
