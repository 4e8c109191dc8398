"""gymnax's wrappers for training loops. `step` returns five or six values, like the wrapped environment."""

from __future__ import annotations

import functools
from functools import partial as partial
from typing import Any
from typing import Optional as Optional
from typing import Tuple as Tuple  # noqa: UP035  # users import these names from here
from typing import Union as Union

import chex as chex
import envcore.spaces
import jax as jax
import jax.numpy as jnp
from envcore.errors import InvalidArgumentError
from flax import struct

from envcore_gymnax.environments import environment as environment
from envcore_gymnax.environments import spaces as spaces

compiled = functools.partial(jax.jit, static_argnums=0)
"""Compiles a method of a wrapper."""


class GymnaxWrapper:
    """Base class of wrappers. Forwards other attributes to the wrapped environment."""

    def __init__(self, env: Any):
        if isinstance(env, tuple):
            raise InvalidArgumentError("a wrapper takes an environment: make returns a pair, env, params = make(...).")
        self._env = env

    def __getattr__(self, name: str) -> Any:
        if name == "_env" or name.startswith("__"):  # during a copy `_env` is not set yet
            raise AttributeError(name)
        return getattr(self._env, name)


class SteppingWrapper(GymnaxWrapper):
    """Base class of wrappers that change steps with and without auto-reset in the same way, in `_stepped`."""

    @compiled
    def step(self, key: jax.Array, state: Any, action: Any, params: Any = None) -> tuple[Any, ...]:
        """Takes one step."""
        return self._stepped(self._env.step, key, state, action, params)

    def step_env(self, key: jax.Array, state: Any, action: Any, params: Any = None) -> tuple[Any, ...]:
        """Takes one step without auto-reset."""
        return self._stepped(self._env.step_env, key, state, action, params)

    def reset_env(self, key: jax.Array, params: Any = None) -> tuple[Any, Any]:
        """Same as `reset`."""
        return self.reset(key, params)

    def _stepped(self, step: Any, key: jax.Array, state: Any, action: Any, params: Any) -> tuple[Any, ...]:
        raise NotImplementedError


@struct.dataclass
class StickyActionState:
    """State of `StickyActionWrapper`.

    Attributes:
      env_state: the environment's state.
      last_action: the last executed action, int32 (). It is 0 after a reset.
    """

    env_state: Any
    last_action: Any


class StickyActionWrapper(SteppingWrapper):
    """Repeats the last executed action with a given probability (sticky actions).

    Args:
      env: an environment with discrete actions.
      sticky_action_prob: probability of repeating the last action.

    Raises:
      InvalidArgumentError: the probability is not in [0, 1], or the actions are not discrete.
    """

    def __init__(self, env: Any, sticky_action_prob: float = 0.0):
        super().__init__(env)
        if not hasattr(env.action_space(env.default_params), "n"):
            raise InvalidArgumentError("StickyActionWrapper requires a Discrete action space")
        if not 0 <= sticky_action_prob <= 1:
            raise InvalidArgumentError(f"sticky_action_prob must be in [0, 1], got {sticky_action_prob!r}")
        self._probability = sticky_action_prob

    @compiled
    def reset(self, key: jax.Array, params: Any = None) -> tuple[Any, StickyActionState]:
        """Starts an episode."""
        obs, state = self._env.reset(key, params)
        return obs, StickyActionState(state, jnp.zeros((), jnp.int32))

    def _stepped(self, step: Any, key: jax.Array, state: Any, action: Any, params: Any) -> tuple[Any, ...]:
        action = jnp.asarray(action, jnp.int32)
        if self._probability > 0:  # with 0, random numbers are the same as without this wrapper
            key_repeat, key = jax.random.split(key)
            is_repeated = jax.random.bernoulli(key_repeat, self._probability)
            action = jnp.where(is_repeated, state.last_action, action)
        obs, env_state, *rest = step(key, state.env_state, action, params)
        return obs, StickyActionState(env_state, action), *rest


class FlattenObservationWrapper(SteppingWrapper):
    """Flattens observations to vectors."""

    def observation_space(self, params: Any = None) -> spaces.Space:
        """Returns the flat `Box`.

        Raises:
          TypeError: the observation space is not a `Box`.
        """
        space = self._env.observation_space(params)
        if not isinstance(space, envcore.spaces.Box):
            raise TypeError(f"FlattenObservationWrapper needs a Box, got {space!r}")
        return spaces.of_envcore(space.flat_space())

    @compiled
    def reset(self, key: jax.Array, params: Any = None) -> tuple[Any, Any]:
        """Starts an episode."""
        obs, state = self._env.reset(key, params)
        return jnp.reshape(obs, (-1,)), state

    def _stepped(self, step: Any, key: jax.Array, state: Any, action: Any, params: Any) -> tuple[Any, ...]:
        obs, state, reward, *flags, info = step(key, state, action, params)
        if "final_observation" in info:
            info = {**info, "final_observation": jnp.reshape(info["final_observation"], (-1,))}
        return jnp.reshape(obs, (-1,)), state, reward, *flags, info


@struct.dataclass
class LogEnvState:
    """State of `LogWrapper`, with returns and lengths of the current and the last finished episode."""

    env_state: Any
    episode_returns: Any
    episode_lengths: Any
    returned_episode_returns: Any
    returned_episode_lengths: Any
    returned_episode_valid: Any
    timestep: Any


class LogWrapper(SteppingWrapper):
    """Adds episode returns and lengths to `info`, with gymnax's names.

    `returned_episode` is True on the last step of an episode. `returned_episode_returns` and `returned_episode_lengths`
    describe the last finished episode. They are 0 until an episode has ended, and then `returned_episode_valid` is
    True. `timestep` counts all steps.
    """

    @compiled
    def reset(self, key: jax.Array, params: Any = None) -> tuple[Any, LogEnvState]:
        """Starts an episode."""
        obs, state = self._env.reset(key, params)
        zero, count = jnp.zeros((), jnp.float32), jnp.zeros((), jnp.int32)
        return obs, LogEnvState(state, zero, count, zero, count, jnp.zeros((), jnp.bool_), count)

    def _stepped(self, step: Any, key: jax.Array, state: Any, action: Any, params: Any) -> tuple[Any, ...]:
        obs, env_state, reward, *flags, info = step(key, state.env_state, action, params)
        done = functools.reduce(jnp.logical_or, flags)
        returns = state.episode_returns + jnp.asarray(reward, jnp.float32).reshape(())
        lengths = state.episode_lengths + jnp.int32(1)
        after = LogEnvState(
            env_state=env_state,
            episode_returns=jnp.where(done, jnp.zeros_like(returns), returns),
            episode_lengths=jnp.where(done, jnp.zeros_like(lengths), lengths),
            returned_episode_returns=jnp.where(done, returns, state.returned_episode_returns),
            returned_episode_lengths=jnp.where(done, lengths, state.returned_episode_lengths),
            returned_episode_valid=state.returned_episode_valid | done,
            timestep=state.timestep + jnp.int32(1),
        )
        info = {
            **info,
            "returned_episode_returns": after.returned_episode_returns,
            "returned_episode_lengths": after.returned_episode_lengths,
            "returned_episode_valid": after.returned_episode_valid,
            "returned_episode": done,
            "timestep": after.timestep,
        }
        return obs, after, reward, *flags, info
