"""envcore's environments for programs that are written for dm_env: Acme, bsuite's agents and others.

    env = DmEnv("Catch-bsuite", seed=0)

Needs dm_env, which the extra `envcore-adapters[dm-env]` installs.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import Environment, forks, random, spaces
from envcore.engine import arguments

from envcore_adapters import needs
from envcore_adapters.inputs import on_device, optional_seed, single, typed_key

with needs("dm_env"):
    import dm_env
    from dm_env import specs

__all__ = ["DmEnv", "to_spec"]


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

    def __init__(self, env: str | Environment, params: Any = None, seed: int | None = None, **options: Any):
        self.env, params = single(env, params, options, "dm_env has one at a time")
        self.params = on_device(params)
        words = np.random.SeedSequence(optional_seed(seed)).generate_state(2)
        self._key = typed_key(jnp.asarray(words))
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
          InvalidActionError: the action has another structure, shape or kind, is not a choice of a discrete space, or
            is not finite. The rules decide on finite numbers outside bounds.
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


def to_spec(space: spaces.Space, name: str) -> Any:
    """The spec with the same values, shape and dtype; a tuple or dict of specs for a space of several parts.

    Raises:
      TypeError: the space is not one of envcore's own.
    """
    match space:
        case spaces.Discrete():
            return specs.DiscreteArray(space.n, np.int32, name)
        case spaces.MultiDiscrete():
            return specs.BoundedArray(space.shape, space.dtype, 0, space.nvec - 1, name)
        case spaces.Box() if space.dtype.kind == "f" and np.isinf(space.low).all() and np.isinf(space.high).all():
            return specs.Array(space.shape, space.dtype, name)
        case spaces.Box():
            return specs.BoundedArray(space.shape, space.dtype, space.low, space.high, name)
        case spaces.Tuple():
            return tuple(to_spec(part, f"{name}.{index}") for index, part in enumerate(space.spaces))
        case spaces.Dict():
            return {key: to_spec(part, f"{name}.{key}") for key, part in space.spaces.items()}
        case _:
            raise TypeError(f"only envcore's own spaces have a counterpart in dm_env, got {space!r}")


def _checked(env: Environment, action: Any) -> Any:
    return arguments.checked_action(env, jax.tree.map(np.asarray, action), arguments.default_params(env))


def _copied(tree: Any) -> Any:
    """Numpy arrays that can be written to."""
    return jax.tree.map(np.array, tree)


@functools.partial(jax.jit, static_argnums=0)
def _start(env: Environment, key: jax.Array, params: Any) -> tuple[jax.Array, Any, Any]:
    key, key_reset = random.split(key)
    obs, state = env.reset(key_reset, params)
    return key, state, obs


@functools.partial(jax.jit, static_argnums=0)
def _restart(env: Environment, key: jax.Array, state: Any, params: Any) -> tuple[jax.Array, Any, Any]:
    key, key_reset = random.split(key)
    state = env.restart(key_reset, jnp.array(True), state, params)
    return key, state, env.observe(state, params)


@functools.partial(jax.jit, static_argnums=0)
def _step(env: Environment, key: jax.Array, state: Any, action: Any, params: Any) -> tuple[Any, ...]:
    key, key_step = random.split(key)
    obs, state, reward, terminated, info = env.step_env(key_step, state, action, params)
    return key, state, obs, reward, terminated, info["truncated"]
