"""gymnax's wrappers for training loops. They pass on five values or six, as the wrapped environment returns them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial as partial
from typing import Any
from typing import Optional as Optional
from typing import Tuple as Tuple  # noqa: UP035  # programs import these names from here
from typing import Union as Union

import chex as chex
import envcore.spaces
import jax as jax
import jax.numpy as jnp
import numpy as np
from envcore import forks
from envcore.errors import InvalidActionError, InvalidArgumentError
from flax import struct

from envcore_gymnax.environments import environment as environment
from envcore_gymnax.environments import spaces as spaces


def check_values(env: Any, action: Any, params: Any, num_envs: int | None = None) -> None:
    """Looks at an action on the host before `jit` hides it, where the environment has an action space.

    A wrong structure or shape is left to the environment, which sees it inside `jit`; not so the shape of a batch.

    Args:
      env: an environment with gymnax's interface.
      action: of any kind.
      params: of the environment.
      num_envs: the number of environments of a batch of actions; None for one action.

    Raises:
      InvalidActionError: it is not a choice of a discrete space, not finite, or not a number at all.
    """
    if isinstance(action, jax.Array):
        return
    try:
        space = _ours(env.action_space(params))
    except NotImplementedError:
        return
    if space is None:
        return
    space = space if num_envs is None else space.batch(num_envs)
    is_left_out, action = num_envs is None, _in_shape(space, action)
    if isinstance(action, np.ndarray) and action.dtype.kind in "OSU":
        is_left_out = False
    mismatch = space.mismatch(action)
    problem = mismatch or space.value_problem(action)
    if problem and not (mismatch and is_left_out):
        raise InvalidActionError(f"an action of {env.name} must be in {space!r}: {problem}.")


def _ours(space: Any) -> spaces.Space | None:
    """An action space as envcore's, also where it is the real gymnax's; None for any other."""
    if isinstance(space, spaces.Space):
        return space
    if hasattr(space, "n"):
        return spaces.Discrete(int(space.n))
    if hasattr(space, "low"):
        return spaces.Box(np.asarray(space.low), np.asarray(space.high), tuple(space.shape), np.dtype(space.dtype))
    return None


def _in_shape(space: spaces.Space, action: Any) -> Any:
    """The action as an array of the space's shape, if it has as many numbers; that of a Tuple or Dict as it is."""
    if isinstance(space, spaces.Tuple | spaces.Dict):
        return action
    try:
        values = np.asarray(action)
    except ValueError:  # lists of different lengths
        return action
    return values.reshape(space.shape) if values.size == np.prod(space.shape, dtype=int) else values


def resetting(method: Callable[..., Any]) -> Callable[..., Any]:
    """Compiles a wrapper's `reset(key, params=None)`."""
    compiled = jax.jit(method, static_argnums=0)

    @functools.wraps(method)
    def checked(*args: Any, **kwargs: Any) -> Any:
        forks.check()
        return compiled(*args, **kwargs)

    return checked


def stepping(method: Callable[..., Any]) -> Callable[..., Any]:
    """Compiles a wrapper's `step(key, state, action, params=None)`, and looks at an action on the host before."""
    compiled = jax.jit(method, static_argnums=0)

    @functools.wraps(method)
    def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        forks.check()
        given = dict(zip(("key", "state", "action", "params"), args, strict=False)) | kwargs
        if "action" in given:
            check_values(self._env, given["action"], given.get("params"))
        return compiled(self, *args, **kwargs)

    return checked


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
        try:
            self._probability = float(sticky_action_prob)
        except (TypeError, ValueError):
            self._probability = np.nan
        if not 0 <= self._probability <= 1:
            raise InvalidArgumentError(f"sticky_action_prob must be in [0, 1], got {sticky_action_prob!r}")

    @resetting
    def reset(self, key: jax.Array, params: Any = None) -> tuple[Any, StickyActionState]:
        """Begins an episode."""
        obs, state = self._env.reset(key, params)
        return obs, StickyActionState(state, jnp.zeros((), jnp.int32))

    @stepping
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

    @resetting
    def reset(self, key: jax.Array, params: Any = None) -> tuple[Any, Any]:
        """Begins an episode."""
        obs, state = self._env.reset(key, params)
        return jnp.reshape(obs, (-1,)), state

    @stepping
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

    @resetting
    def reset(self, key: jax.Array, params: Any = None) -> tuple[Any, LogEnvState]:
        """Begins an episode."""
        obs, state = self._env.reset(key, params)
        zero, count = jnp.zeros((), jnp.float32), jnp.zeros((), jnp.int32)
        return obs, LogEnvState(state, zero, count, zero, count, jnp.zeros((), jnp.bool_), count)

    @stepping
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
