"""gymnax's wrappers for Gymnasium, for any environment with gymnax's interface. Needs envcore-adapters[gymnasium].

For envcore environments, `GymnasiumEnv` and `GymnasiumVectorEnv` of envcore-adapters are faster, and follow Gymnasium's
conventions more closely.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from envcore.checks import positive_integer
from envcore.errors import InvalidArgumentError
from envcore.random import key_of
from envcore_adapters.gymnasium.conventions import checked_options, final_entries, seeds_of_each
from envcore_adapters.inputs import optional_seed
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from envcore_gymnax.environments.spaces import gymnax_space_to_gym_space
from envcore_gymnax.settings import GymnaxState, returns_six_values
from envcore_gymnax.wrappers.purerl import GymnaxWrapper, LogEnvState, StickyActionState


class _Wrapped:
    """What both wrappers share: an environment with gymnax's interface, its params and spaces."""

    num_envs = 1

    def __init__(self, env: Any, params: Any, seed: int | None):
        self._env = wrapper = GymnaxWrapper(env)._env
        while isinstance(wrapper, GymnaxWrapper):
            cls, wrapper = type(wrapper), wrapper._env
            if "step" in vars(cls) and "step_env" not in vars(cls):
                raise InvalidArgumentError(f"{cls.__name__} must define step_env, not only step, as LogWrapper does.")
        self.env_params = env.default_params if params is None else params
        self._spaces: tuple[Any, ...] = (None,)  # params, and their spaces
        self.key = key_of(0 if seed is None else seed)

    def _latest_spaces(self) -> tuple[Any, ...]:
        """Returns the spaces of actions and observations, of one environment and of the batch.

        They are kept until the params change, so that you can seed them.
        """
        params = self.env_params
        if self._spaces[0] is not params:
            spaces = self._env.action_space(params), self._env.observation_space(params)
            single = [gymnax_space_to_gym_space(space) for space in spaces]
            self._spaces = params, *single, *[batch_space(space, self.num_envs) for space in single]
        return self._spaces[1:]

    def _params_after(self, options: Any) -> Any:
        """Returns the params for a reset with these options."""
        params = checked_options(options).get("env_params", self.env_params)
        return self._env.default_params if params is None else params


def _space(index: int, doc: str) -> Any:
    return property(lambda self: self._latest_spaces()[index], doc=doc)


class GymnaxToGymWrapper(_Wrapped, gymnasium.Env[Any, Any]):
    """Wraps an environment as a `gymnasium.Env`.

    Args:
      env: an environment with gymnax's interface, whose `step` returns five or six values.
      params: the environment's params. None for the defaults.
      seed: seed of all randomness, from 0 to 2**63 - 1. None for 0.

    Raises:
      InvalidArgumentError: an argument is invalid.
    """

    def __init__(self, env: Any, params: Any = None, seed: int | None = None):
        super().__init__(env, params, seed)
        self.metadata = {"name": env.name, "render_modes": ["rgb_array"] if hasattr(env, "render") else []}
        _, self.env_state = env.reset(self.key, self.env_params)

    action_space = _space(0, "The action space with the current params.")
    observation_space = _space(1, "The observation space with the current params.")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts an episode. `options["env_params"]` replaces the params. None restores the defaults.

        Raises:
          InvalidArgumentError: the seed or the options are invalid.
        """
        params = self._params_after(options)
        key = self.key if seed is None else key_of(seed)
        super().reset(seed=optional_seed(seed))
        self.key, key = jax.random.split(key)
        obs, self.env_state = self._env.reset(key, params)
        self.env_params = params
        return _numpy(obs), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Takes one step without auto-reset, so the observation belongs to the same episode.

        Raises:
          InvalidActionError: for envcore environments, if the action is outside a discrete space or not finite.
        """
        self.key, key = jax.random.split(self.key)
        result = _stepped(self._env, key, self.env_state, action, self.env_params)
        obs, self.env_state, reward, terminated, truncated, info = result
        return _numpy(obs), float(reward), bool(terminated), bool(truncated), _numpy(info)

    def render(self) -> Any:
        """Renders the state. Returns None if the environment has no `render`."""
        return np.array(self._env.render(self.env_state, self.env_params)) if hasattr(self._env, "render") else None


class GymnaxToVectorGymWrapper(_Wrapped, gymnasium.vector.VectorEnv[Any, Any, Any]):
    """Wraps a batch of environments as a `gymnasium.vector.VectorEnv` with same-step auto-reset, as in gymnax.

    Args:
      env: an environment with gymnax's interface, whose `step` returns five or six values.
      num_envs: the number of environments.
      params: the environments' params. None for the defaults.
      seed: seed of all randomness, from 0 to 2**63 - 1. None for 0.

    Raises:
      InvalidArgumentError: an argument is invalid.
    """

    single_action_space = _space(0, "The action space of one environment with the current params.")
    single_observation_space = _space(1, "The observation space of one environment with the current params.")
    action_space = _space(2, "The batch of action spaces.")
    observation_space = _space(3, "The batch of observation spaces.")

    def __init__(self, env: Any, num_envs: int = 1, params: Any = None, seed: int | None = None):
        super().__init__(env, params, seed)
        self.num_envs = positive_integer("num_envs", num_envs, InvalidArgumentError)
        self.metadata = {"name": env.name, "render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}
        self._reset = jax.jit(jax.vmap(self._reset_one, (0, None)))
        self._step = jax.jit(jax.vmap(self._step_one, (0, 0, 0, None)))
        self.key = jax.random.split(self.key, num_envs)
        *_, self.env_state = self._reset(self.key, self.env_params)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Starts an episode in every environment. `options["env_params"]` replaces the params (None for the defaults).

        You can pass a list with a seed or None for each environment.

        Raises:
          InvalidArgumentError: the seed or the options are invalid.
        """
        params, seeds = self._params_after(options), seeds_of_each(seed, self.num_envs)
        keys = self.key
        if seeds is None:
            keys = keys if seed is None else jax.random.split(key_of(seed), self.num_envs)  # pyright: ignore[reportArgumentType]
            super().reset(seed=optional_seed(seed))
        for index, each in enumerate(seeds or ()):
            if each is not None:  # as `GymnaxToGymWrapper` with this seed
                keys = keys.at[index].set(key_of(each))
        self.key, obs, self.env_state = self._reset(keys, params)
        self.env_params = params
        return _numpy(obs), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Takes one step in every environment. `infos["final_obs"]` has the last observation of finished episodes."""
        self.key, self.env_state, *result = self._step(self.key, self.env_state, jnp.asarray(actions), self.env_params)
        obs, reward, terminated, truncated, info, last = _numpy(result)
        return obs, reward, terminated, truncated, info | final_entries(terminated | truncated, last, info)

    def _reset_one(self, key: jax.Array, params: Any) -> tuple[Any, ...]:
        key, key_reset = jax.random.split(key)
        return key, *self._env.reset(key_reset, params)

    def _step_one(self, key: jax.Array, state: Any, action: Any, params: Any) -> tuple[Any, ...]:
        key, key_step, key_reset = jax.random.split(key, 3)
        last, after, reward, terminated, truncated, info = _stepped(self._env, key_step, state, action, params)
        fresh = self._env.reset(key_reset, params)
        choose = functools.partial(jnp.where, terminated | truncated)
        obs, after = jax.tree.map(choose, fresh, (last, after))
        return key, after, obs, reward, terminated, truncated, info, last


def _stepped(env: Any, key: jax.Array, state: Any, action: Any, params: Any) -> tuple[Any, ...]:
    """Takes a step without auto-reset. Returns six values, and adds gymnax 1's info entries in six-value mode."""
    obs, state, reward, ended, info = env.step_env(key, state, action, params)
    inner = state
    while isinstance(inner, LogEnvState | StickyActionState):
        inner = inner.env_state
    at_limit = inner.time >= params.max_steps_in_episode
    is_limit_apart = returns_six_values()
    terminated = inner.terminated if isinstance(inner, GymnaxState) else ended if is_limit_apart else ended & ~at_limit
    truncated = at_limit & ~terminated & (ended | is_limit_apart)
    if is_limit_apart:
        info = {**info, "terminated": terminated, "truncated": truncated, "final_observation": obs}
    return obs, state, reward, terminated, truncated, info


def _numpy(tree: Any) -> Any:
    return jax.tree.map(np.array, tree)
