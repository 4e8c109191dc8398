"""Use batches of envcore environments with Stable-Baselines3. Needs the extra `envcore-adapters[sb3]`."""

# CI checks types without Stable-Baselines3, which needs PyTorch.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import gymnasium
import jax
import numpy as np
from envcore import Environment
from envcore.engine import arguments
from envcore_native import MASK
from gymnasium.vector import AutoresetMode

from envcore_adapters import needs
from envcore_adapters.gymnasium import gymnasium_id
from envcore_adapters.gymnasium.conventions import RENDER_HEIGHT
from envcore_adapters.gymnasium.spaces import mask_entries
from envcore_adapters.gymnasium.vector_env import GymnasiumVectorEnv

with needs("stable_baselines3", "sb3"):
    from stable_baselines3.common.vec_env import VecEnv

__all__ = ["SB3VecEnv"]

_SHARED = ("env", "params", "render_mode", "spec")
"""Attributes of the batch that `get_attr` returns for each environment."""


class SB3VecEnv(VecEnv):
    """Wraps a batch of envcore environments as a Stable-Baselines3 `VecEnv`.

    Each step is a single call of compiled code. Observations are numpy arrays (num_envs, ...) or a dict of them,
    rewards are float32 (num_envs,), and dones are bool (num_envs,). The last step of an episode returns the first
    observation of the next one. `infos` is a list with a dict for each environment. It contains the environment's
    `info` entries, `"TimeLimit.truncated"`, and at the end of an episode the last observation as
    `"terminal_observation"`.

    After `seed(7)`, `reset` gives the environments the seeds 7, 8, 9, ...

    sb3-contrib's `MaskablePPO` gets action masks from `env_method("action_masks")`.

    Args:
      env: an environment, with or without wrappers, or an id for `envcore.make`. It may be a batch, such as
        `NormalizeObservation(Batched(env, 64))`.
      num_envs: number of environments, at least 1. None if `env` is a batch.
      params: the environments' params, or a mapping of the values to change from the defaults.
      render_mode: `"rgb_array"` to render images, or None.
      render_height: height of a rendered image in pixels.
      **options: constructor options, if `env` is an id.

    Attributes:
      vector_env: the wrapped `GymnasiumVectorEnv`. Its `state` holds the envcore states.

    Raises:
      UnknownEnvironmentError: the id is unknown.
      InvalidArgumentError: an argument is invalid.
    """

    def __init__(
        self,
        env: str | Environment,
        num_envs: int | None = None,
        params: Any = None,
        *,
        render_mode: str | None = None,
        render_height: int = RENDER_HEIGHT,
        **options: Any,
    ):
        self.vector_env = envs = GymnasiumVectorEnv(
            env,
            num_envs,
            params,
            autoreset_mode=AutoresetMode.SAME_STEP,
            render_mode=render_mode,
            render_height=render_height,
            **options,
        )
        registered = gymnasium.registry.get(gymnasium_id(env)) if isinstance(env, str) else None
        if registered is not None:
            envs.spec = dataclasses.replace(registered, kwargs={**registered.kwargs, "params": params, **options})
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)
        self.metadata["render_fps"] = envs.env.render_fps
        self._actions: Any = None
        self._masks: Any = None

    def reset(self) -> Any:
        """Starts an episode in every environment.

        The first reset after `seed` uses its seeds. Options are ignored.

        Raises:
          InvalidArgumentError: a seed is negative.
          ClosedEnvironmentError: the batch has been closed.
        """
        is_seeded = any(seed is not None for seed in self._seeds)
        obs, infos = self.vector_env.reset(seed=self._seeds if is_seeded else None)
        self._reset_seeds()
        self._reset_options()
        self._masks = infos.get(MASK)
        self.reset_infos = [_entries_of(index, infos, _names(infos)) for index in range(self.num_envs)]
        return obs

    def step_async(self, actions: Any) -> None:
        """Stores the actions, (num_envs, ...), for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        """Takes one step in every environment.

        Returns:
          Observations, rewards, dones and infos.

        Raises:
          ResetNeeded: `reset` has not been called.
          InvalidActionError: the actions have the wrong structure, shape or kind, are outside a discrete space, or are
            not finite.
          ClosedEnvironmentError: the batch has been closed.
        """
        obs, rewards, terminated, truncated, batched = self.vector_env.step(self._actions)
        final_obs, final_infos = batched.pop("final_obs", None), batched.pop("final_info", {})
        self._masks = batched.get(MASK)
        infos: list[dict[str, Any]] = [{"TimeLimit.truncated": is_cut} for is_cut in (truncated & ~terminated).tolist()]
        names = _names(batched)
        if names:
            for index, info in enumerate(infos):
                info |= _entries_of(index, batched, names)
        dones, names = terminated | truncated, _names(final_infos)
        for index in np.flatnonzero(dones).tolist():
            info = infos[index]
            self.reset_infos[index] = {MASK: info[MASK]} if MASK in info else {}
            info |= _entries_of(index, final_infos, names)
            info["terminal_observation"] = final_obs[index]
        return obs, rewards, dones, infos

    def close(self) -> None:
        """Frees the states."""
        self.vector_env.close()

    def get_images(self) -> Sequence[Any]:
        """Renders each environment as uint8 (height, width, 3). Each entry is None without a render mode."""
        return self.vector_env.render() or [None] * self.num_envs

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Returns an attribute for each environment.

        Available are `env`, `params`, `render_mode`, `spec`, the spaces and the function `action_masks`. `spec` is the
        spec of `gymnasium.make` for this id and these params, or None if you passed an environment.

        Raises:
          AttributeError: the attribute does not exist, or you asked for `action_masks` and the environment has no
            masks or masks combinations of several components.
        """
        chosen = list(self._get_indices(indices))
        if attr_name == "action_masks" and self._entries is not None:
            return [functools.partial(self._action_masks, index) for index in chosen]
        if attr_name in ("action_space", "observation_space"):
            return [getattr(self, attr_name)] * len(chosen)
        if attr_name in _SHARED:
            return [getattr(self.vector_env, attr_name)] * len(chosen)
        raise AttributeError(f"environments of {self.vector_env.env.name} have no attribute {attr_name!r}.")

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Sets the `params` of all environments from the next step on.

        Raises:
          AttributeError: the attribute is not `params`, or `indices` selects only some of the environments. A batch
            shares its params.
          InvalidParamsError: the params belong to another environment, or a name or value is invalid.
        """
        if attr_name != "params" or len(set(self._get_indices(indices))) < self.num_envs:
            raise AttributeError(f"cannot set {attr_name!r}: you can only set 'params', for all environments at once.")
        self.vector_env.params = value

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Calls a method of each environment. The only one is `action_masks`, bool (n,), which masks legal actions.

        Raises:
          AttributeError: the method does not exist.
        """
        return [method(*method_args, **method_kwargs) for method in self.get_attr(method_name, indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Always False, because Gymnasium's wrappers apply to single environments."""
        return [False for _ in self._get_indices(indices)]

    @functools.cached_property
    def _entries(self) -> np.ndarray[Any, Any] | None:
        env, mask = self.vector_env.env, arguments.action_mask_struct(self.vector_env.env)
        one = mask if mask is None else jax.ShapeDtypeStruct(mask.shape[1:], mask.dtype)
        return mask_entries(env.action_space(self.vector_env.params).unbatch(), one)

    def _action_masks(self, index: int) -> np.ndarray[Any, Any]:
        _ = self.vector_env.state  # raises `ResetNeeded`
        return self._masks[index][self._entries]


def _names(infos: dict[str, Any]) -> list[str]:
    """Returns the names of a batch's info entries, without their masks `_x`."""
    return [name for name in infos if f"_{name}" in infos]


def _entries_of(index: int, infos: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Returns the info entries of one environment of a batch."""
    own = [name for name in names if infos[f"_{name}"][index]]
    return {name: jax.tree.map(lambda leaf: leaf[index], infos[name]) for name in own}
