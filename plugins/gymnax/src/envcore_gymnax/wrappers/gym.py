"""gymnax's wrappers for Gymnasium, on any environment with gymnax's interface; needs envcore-adapters[gymnasium].

For envcore's own environments, `GymnasiumEnv` and `GymnasiumVectorEnv` of envcore-adapters are faster, and follow
Gymnasium to the letter.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from envcore import forks
from envcore.checks import positive_integer
from envcore.errors import InvalidActionError, InvalidArgumentError
from envcore.random import key_of
from envcore_adapters.gymnasium.conventions import checked_options, final_entries, seeds_of_each
from envcore_adapters.inputs import optional_seed
from gymnasium.error import ClosedEnvironmentError
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from envcore_gymnax.environments.spaces import gymnax_space_to_gym_space
from envcore_gymnax.settings import GymnaxState, returns_six_values
from envcore_gymnax.wrappers.purerl import LogEnvState, StickyActionState, check_values


class GymnaxToGymWrapper(gymnasium.Env[Any, Any]):
    """One environment as a `gymnasium.Env`.

    Args:
      env: an environment with gymnax's interface, five values or six.
      params: its params; the defaults by default.
      seed: of all randomness, from 0 to 2**63 - 1; 0 by default.

    Raises:
      InvalidArgumentError: an argument is invalid.
    """

    def __init__(self, env: Any, params: Any = None, seed: int | None = None):
        self._env, self.env_params = env, env.default_params if params is None else params
        self._spaces: tuple[Any, ...] = (None,)  # params, and their spaces of actions and observations
        self.metadata = {"name": env.name, "render_modes": ["rgb_array"] if hasattr(env, "render") else []}
        self.key = key_of(0 if seed is None else seed)
        _, self.env_state = env.reset(self.key, self.env_params)

    @property
    def action_space(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of the params of the moment."""
        return self._latest_spaces()[0]

    @property
    def observation_space(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of the params of the moment."""
        return self._latest_spaces()[1]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode; `options["env_params"]` replaces the params, by the defaults where it is None.

        Raises:
          InvalidArgumentError: the seed or the options are invalid.
        """
        params = _params_after(self, options)
        key = self.key if seed is None else key_of(seed)
        super().reset(seed=optional_seed(seed))
        self.key, key = jax.random.split(key)
        obs, self.env_state = self._env.reset(key, params)
        self.env_params = params
        return _numpy(obs), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Takes one step without auto-reset, so that the last observation is the episode's own.

        Raises:
          InvalidActionError: the action is no choice of a discrete space, or not finite.
        """
        check_values(self._env, action, self.env_params)
        self.key, key = jax.random.split(self.key)
        obs, self.env_state, reward, ended, info = self._env.step_env(key, self.env_state, action, self.env_params)
        terminated, truncated = _ends(self.env_state, ended, self.env_params)
        info = _info(info, terminated, truncated, obs)
        return _numpy(obs), float(reward), bool(terminated), bool(truncated), _numpy(info)

    def render(self) -> Any:
        """A picture, or None if the environment has none."""
        return np.array(self._env.render(self.env_state, self.env_params)) if hasattr(self._env, "render") else None

    def _latest_spaces(self) -> tuple[Any, ...]:
        """The same spaces while the params are the same, so that they can be seeded."""
        params = self.env_params
        if self._spaces[0] is not params:
            spaces = self._env.action_space(params), self._env.observation_space(params)
            self._spaces = params, *map(gymnax_space_to_gym_space, spaces)
        return self._spaces[1:]


class GymnaxToVectorGymWrapper(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """A batch as a `gymnasium.vector.VectorEnv` that resets in the same step, as gymnax does.

    Args:
      env: an environment with gymnax's interface, five values or six.
      num_envs: the number of environments.
      params: their params; the defaults by default.
      seed: of all randomness, from 0 to 2**63 - 1; 0 by default.

    Raises:
      InvalidArgumentError: an argument is invalid.
    """

    def __init__(self, env: Any, num_envs: int = 1, params: Any = None, seed: int | None = None):
        self._env, self.num_envs = env, positive_integer("num_envs", num_envs, InvalidArgumentError)
        self.env_params = env.default_params if params is None else params
        self.metadata = {"name": env.name, "render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}
        self._reset = jax.jit(jax.vmap(self._reset_one, (0, None)))
        self._step = jax.jit(jax.vmap(self._step_one, (0, 0, 0, None)))
        self.single_action_space = gymnax_space_to_gym_space(env.action_space(self.env_params))
        self.single_observation_space = gymnax_space_to_gym_space(env.observation_space(self.env_params))
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.key = jax.random.split(key_of(0 if seed is None else seed), num_envs)
        *_, self.env_state = self._reset(self.key, self.env_params)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins all episodes; `options["env_params"]` replaces the params, by the defaults where it is None.

        A list of seeds has one for each environment, or None for any start.

        Raises:
          InvalidArgumentError: the seed or the options are invalid.
          ClosedEnvironmentError: after `close`.
        """
        self._check_open()
        params, seeds = _params_after(self, options), seeds_of_each(seed, self.num_envs)
        keys = self.key
        if seeds is None:
            one: Any = seed
            keys = keys if one is None else jax.random.split(key_of(one), self.num_envs)
            super().reset(seed=optional_seed(seed))
        for index, each in enumerate(seeds or ()):
            if each is not None:  # as `GymnaxToGymWrapper` with this seed
                keys = keys.at[index].set(key_of(each))
        self.key, obs, self.env_state = self._reset(keys, params)
        self.env_params = params
        return _numpy(obs), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Takes one step in every environment; `infos["final_obs"]` has the last observation of episodes that ended.

        Raises:
          InvalidActionError: an action is no choice of a discrete space, or not finite.
          ClosedEnvironmentError: after `close`.
        """
        self._check_open()
        if not isinstance(actions, jax.Array):
            try:
                actions = np.asarray(actions)
            except ValueError as error:  # lists of different lengths
                raise InvalidActionError(f"actions must be in {self.action_space!r}: {error}.") from error
            check_values(self._env, actions, self.env_params, self.num_envs)
        result = self._step(self.key, self.env_state, jnp.asarray(actions), self.env_params)
        self.key, obs, self.env_state, reward, terminated, truncated, info, last = result
        terminated, truncated = np.array(terminated), np.array(truncated)
        infos = _numpy(info) | final_entries(terminated | truncated, _numpy(last), _numpy(info))
        return _numpy(obs), np.array(reward), terminated, truncated, infos

    def render(self) -> Any:
        """A picture of each environment, uint8 (num_envs, height, width, 3), or None if they have none."""
        if not hasattr(self._env, "render"):
            return None
        return np.array(jax.vmap(self._env.render, (0, None))(self.env_state, self.env_params))

    def _reset_one(self, key: jax.Array, params: Any) -> tuple[Any, ...]:
        key, key_reset = jax.random.split(key)
        return key, *self._env.reset(key_reset, params)

    def _step_one(self, key: jax.Array, state: Any, action: Any, params: Any) -> tuple[Any, ...]:
        key, key_step, key_reset = jax.random.split(key, 3)
        last, after, reward, ended, info = self._env.step_env(key_step, state, action, params)
        terminated, truncated = _ends(after, ended, params)
        fresh = self._env.reset(key_reset, params)
        choose = functools.partial(jnp.where, terminated | truncated)
        obs, after = jax.tree.map(choose, fresh, (last, after))
        return key, obs, after, reward, terminated, truncated, _info(info, terminated, truncated, last), last

    def _check_open(self) -> None:
        forks.check()
        if self.closed:
            raise ClosedEnvironmentError(f"{self._env.name} is closed: make another one.")


def _params_after(env: Any, options: Any) -> Any:
    """The params after a reset with these options."""
    params = checked_options(options).get("env_params", env.env_params)
    return env._env.default_params if params is None else params


def _ends(state: Any, ended: Any, params: Any) -> tuple[Any, Any]:
    """Whether the step to this state terminated, and whether it was truncated."""
    while isinstance(state, LogEnvState | StickyActionState):
        state = state.env_state
    at_limit = state.time >= params.max_steps_in_episode
    if isinstance(state, GymnaxState):
        return state.terminated, at_limit & ~state.terminated
    terminated = ended if returns_six_values() else ended & ~at_limit
    return terminated, at_limit & ~terminated


def _info(info: dict[str, Any], terminated: Any, truncated: Any, last: Any) -> dict[str, Any]:
    """The entries of `info`; with six values also those of gymnax 1."""
    if not returns_six_values():
        return info
    return {**info, "terminated": terminated, "truncated": truncated, "final_observation": last}


def _numpy(tree: Any) -> Any:
    return jax.tree.map(np.array, tree)
