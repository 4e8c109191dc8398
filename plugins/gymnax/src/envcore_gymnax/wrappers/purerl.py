"""gymnax's wrappers for training loops. They pass on five values or six, as the wrapped environment returns them."""

from __future__ import annotations

import functools
from functools import partial as partial
from typing import Any
from typing import Optional as Optional
from typing import Tuple as Tuple  # noqa: UP035  # programs import these names from here
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
    """Base of wrappers: hands on everything that it does not have."""

    def __init__(self, env: Any):
        self._env = env

    def __getattr__(self, name: str) -> Any:
        if name == "_env" or name.startswith("__"):  # a copy is being made
            raise AttributeError(name)
        return getattr(self._env, name)


@struct.dataclass
class StickyActionState:
    """State of `StickyActionWrapper`.

    Attributes:
      env_state: the environment's state.
      last_action: the action that was last executed, int32 (); 0 at the start.
    """

    env_state: Any
    last_action: Any


class StickyActionWrapper(GymnaxWrapper):
    """Repeats the action that was last executed, with a probability, in place of the given one.

    Args:
      env: an environment with discrete actions.
      sticky_action_prob: the probability; 0 by default.

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
        """Begins an episode."""
        obs, state = self._env.reset(key, params)
        return obs, StickyActionState(state, jnp.zeros((), jnp.int32))

    @compiled
    def step(self, key: jax.Array, state: StickyActionState, action: Any, params: Any = None) -> tuple[Any, ...]:
        """Takes one step."""
        action = jnp.asarray(action, jnp.int32)
        if self._probability > 0:  # else the environment's random numbers are those without this wrapper
            key_repeat, key = jax.random.split(key)
            is_repeated = jax.random.bernoulli(key_repeat, self._probability)
            action = jnp.where(is_repeated, state.last_action, action)
        obs, env_state, *rest = self._env.step(key, state.env_state, action, params)
        return obs, StickyActionState(env_state, action), *rest


class FlattenObservationWrapper(GymnaxWrapper):
    """Flattens observations into vectors."""

    def observation_space(self, params: Any = None) -> spaces.Space:
        """The `Box` of vectors.

        Raises:
          TypeError: observations are not in a `Box`.
        """
        space = self._env.observation_space(params)
        if not isinstance(space, envcore.spaces.Box):
            raise TypeError(f"FlattenObservationWrapper needs a Box, got {space!r}")
        return spaces.of_envcore(space.flat_space())

    @compiled
    def reset(self, key: jax.Array, params: Any = None) -> tuple[Any, Any]:
        """Begins an episode."""
        obs, state = self._env.reset(key, params)
        return jnp.reshape(obs, (-1,)), state

    @compiled
    def step(self, key: jax.Array, state: Any, action: Any, params: Any = None) -> tuple[Any, ...]:
        """Takes one step."""
        obs, state, reward, *flags, info = self._env.step(key, state, action, params)
        if "final_observation" in info:
            info = {**info, "final_observation": jnp.reshape(info["final_observation"], (-1,))}
        return jnp.reshape(obs, (-1,)), state, reward, *flags, info

    def reset_env(self, key: jax.Array, params: Any = None) -> tuple[Any, Any]:
        """As `reset`."""
        return self.reset(key, params)

    def step_env(self, key: jax.Array, state: Any, action: Any, params: Any = None) -> tuple[Any, ...]:
        """Takes one step without reset."""
        obs, *rest = self._env.step_env(key, state, action, params)
        return jnp.reshape(obs, (-1,)), *rest


@struct.dataclass
class LogEnvState:
    """State of `LogWrapper`: returns and lengths of the running and of the last finished episode."""

    env_state: Any
    episode_returns: Any
    episode_lengths: Any
    returned_episode_returns: Any
    returned_episode_lengths: Any
    returned_episode_valid: Any
    timestep: Any


class LogWrapper(GymnaxWrapper):
    """Adds returns and lengths of episodes to `info`, with gymnax's names.

    `returned_episode` is true on the step that ends an episode; `returned_episode_returns` and `_lengths` are those of
    the last finished one, 0 before (`returned_episode_valid` tells); `timestep` counts all steps.
    """

    @compiled
    def reset(self, key: jax.Array, params: Any = None) -> tuple[Any, LogEnvState]:
        """Begins an episode."""
        obs, state = self._env.reset(key, params)
        zero, count = jnp.zeros((), jnp.float32), jnp.zeros((), jnp.int32)
        return obs, LogEnvState(state, zero, count, zero, count, jnp.zeros((), jnp.bool_), count)

    @compiled
    def step(self, key: jax.Array, state: LogEnvState, action: Any, params: Any = None) -> tuple[Any, ...]:
        """Takes one step."""
        return _logged(state, *self._env.step(key, state.env_state, action, params))

    def reset_env(self, key: jax.Array, params: Any = None) -> tuple[Any, LogEnvState]:
        """As `reset`."""
        return self.reset(key, params)

    def step_env(self, key: jax.Array, state: LogEnvState, action: Any, params: Any = None) -> tuple[Any, ...]:
        """Takes one step without reset."""
        return _logged(state, *self._env.step_env(key, state.env_state, action, params))


def _logged(state: LogEnvState, *result: Any) -> tuple[Any, ...]:
    """The result of a step with the counters of `LogWrapper`."""
    obs, env_state, reward, *flags, info = result
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
