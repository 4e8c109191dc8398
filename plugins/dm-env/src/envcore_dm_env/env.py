"""`DmEnv`: an environment as a `dm_env.Environment`."""

from __future__ import annotations

import functools
from typing import Any

import dm_env
import jax
import jax.numpy as jnp
import numpy as np
from envcore import Environment, forks, random
from envcore.choice import chosen
from envcore.engine import arguments
from envcore.errors import InvalidArgumentError
from envcore.random import optional_seed

from envcore_dm_env.specs import to_spec


class DmEnv(dm_env.Environment):
    """An environment of envcore as a `dm_env.Environment`.

    `step` after the last step of an episode ignores the action and begins the next one, as dm_env defines it. A time
    limit is a truncation: the last step has discount 1. Observations are numpy arrays, rewards and discounts floats.

    Args:
      env: an environment, with or without wrappers, or an id for `envcore.make`.
      params: its params, or a mapping of those that differ from the defaults.
      seed: of all randomness, a non-negative integer; None for another one each time.
      **options: constructor options, where `env` is an id.

    Attributes:
      env: the environment.
      params: its params.

    Raises:
      UnknownEnvironmentError: nothing has this id.
      InvalidArgumentError: an argument is invalid, or the environment is a batch.
    """

    def __init__(self, env: str | Environment[Any, Any], params: Any = None, seed: int | None = None, **options: Any):
        self.env, self.params = chosen(env, params, options)
        if self.env.batch_shape:
            raise InvalidArgumentError(f"{self.env.name} is a batch of environments; dm_env has one at a time.")
        words = np.random.SeedSequence(optional_seed(seed)).generate_state(2)
        self._key = jax.random.wrap_key_data(jnp.asarray(words), impl="threefry2x32")
        self._state: Any = None
        self._resets_next = True

    def reset(self) -> dm_env.TimeStep:
        """Begins an episode; after the first one, what survives an auto-reset in envcore is kept."""
        forks.check()
        if self._state is None:
            self._key, self._state, obs = _start(self.env, self._key, self.params)
        else:
            self._key, self._state, obs = _restart(self.env, self._key, self._state, self.params)
        self._resets_next = False
        return dm_env.restart(_copied(obs))

    def step(self, action: Any) -> dm_env.TimeStep:
        """Takes one step, or begins an episode if there is none or its last step has been taken.

        Raises:
          InvalidActionError: the action has another structure, shape or kind, is no choice of a discrete space, or is
            not finite. The rules decide on finite numbers outside bounds.
        """
        if self._resets_next:
            return self.reset()
        forks.check()
        key, state, *result = _step(self.env, self._key, self._state, _checked(self.env, action), self.params)
        self._key, self._state = key, state
        obs, reward, terminated, truncated = jax.device_get(result)
        self._resets_next = bool(terminated | truncated)
        obs = _copied(obs)
        if terminated:
            return dm_env.termination(float(reward), obs)
        return dm_env.truncation(float(reward), obs) if truncated else dm_env.transition(float(reward), obs)

    def observation_spec(self) -> Any:
        """The spec of observations, of the structure that they have."""
        return to_spec(self.env.observation_space(self.params), "observation")

    def action_spec(self) -> Any:
        """The spec of actions, of the structure that they have."""
        return to_spec(self.env.action_space(self.params), "action")


def _checked(env: Environment[Any, Any], action: Any) -> Any:
    return arguments.checked_action(env, jax.tree.map(np.asarray, action), None)


def _copied(tree: Any) -> Any:
    """Numpy arrays that can be written to."""
    return jax.tree.map(np.array, tree)


@functools.partial(jax.jit, static_argnums=0)
def _start(env: Environment[Any, Any], key: jax.Array, params: Any) -> tuple[jax.Array, Any, Any]:
    key, key_reset = random.split(key)
    obs, state = env.reset(key_reset, params)
    return key, state, obs


@functools.partial(jax.jit, static_argnums=0)
def _restart(env: Environment[Any, Any], key: jax.Array, state: Any, params: Any) -> tuple[jax.Array, Any, Any]:
    key, key_reset = random.split(key)
    state = env.restart(key_reset, jnp.array(True), state, params)
    return key, state, env.get_obs(state, params)


@functools.partial(jax.jit, static_argnums=0)
def _step(env: Environment[Any, Any], key: jax.Array, state: Any, action: Any, params: Any) -> tuple[Any, ...]:
    key, key_step = random.split(key)
    obs, state, reward, terminated, info = env.step_env(key_step, state, action, params)
    return key, state, obs, reward, terminated, info["truncated"]
