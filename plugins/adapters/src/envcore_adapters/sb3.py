"""`SB3VecEnv`: many environments as one `VecEnv` of Stable-Baselines3. Needs the extra `envcore-adapters[sb3]`."""

# Types are checked where Stable-Baselines3, which needs PyTorch, is not installed.
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
"""What `get_attr` reads of the batch, for each environment."""


class SB3VecEnv(VecEnv):
    """A batch of environments of envcore as a `VecEnv` of Stable-Baselines3: one call of machine code a step.

    Observations are numpy arrays (num_envs, ...), or a dict of them, rewards float32 (num_envs,), and dones
    bool (num_envs,). The last step of an episode returns the first observation of the next one. `infos` has a dict for
    each environment: the environment's own entries, `"TimeLimit.truncated"`, and where an episode has ended its last
    observation, `"terminal_observation"`.

    After `seed(7)`, `reset` starts the environments as single ones with the seeds 7, 8, 9, ... start.

    sb3-contrib's `MaskablePPO` finds action masks by `env_method("action_masks")`.

    Args:
      env: an environment, with or without wrappers, or an id for `envcore.make`. It may be a batch, such as
        `NormalizeObservation(Batched(env, 64))`.
      num_envs: number of environments, at least 1; None if `env` is a batch.
      params: their params, or a mapping of those that differ from the defaults.
      render_mode: `"rgb_array"` for pictures, or None.
      render_height: height of a picture in pixels.
      **options: constructor options, where `env` is an id.

    Attributes:
      vector_env: the `GymnasiumVectorEnv` that it steps; `vector_env.state` are the states.

    Raises:
      UnknownEnvironmentError: nothing has this id.
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
        """Starts an episode in every environment, with the seeds of `seed`, which are used once. Options are not used.

        Raises:
          InvalidArgumentError: a seed is negative.
          ClosedEnvironmentError: after `close`.
        """
        is_seeded = any(seed is not None for seed in self._seeds)
        obs, infos = self.vector_env.reset(seed=self._seeds if is_seeded else None)
        self._reset_seeds()
        self._reset_options()
        self._masks = infos.get(MASK)
        self.reset_infos = [_entries_of(index, infos, _names(infos)) for index in range(self.num_envs)]
        return obs

    def step_async(self, actions: Any) -> None:
        """Keeps the actions, (num_envs, ...), for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        """Takes one step in every environment.

        Raises:
          ResetNeeded: there has been no reset.
          InvalidActionError: the actions are not of the action space's structure, shape or kind, have a discrete
            value outside of it, or are not finite.
          ClosedEnvironmentError: after `close`.
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
        """A picture of each environment, uint8 (height, width, 3); None without a render mode."""
        return self.vector_env.render() or [None] * self.num_envs

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """`env`, `params`, `render_mode`, `spec`, the spaces, or the function `action_masks`, for each environment.

        `spec` is that of `gymnasium.make` with this id and these params; None for an environment that you made.

        Raises:
          AttributeError: there is no such attribute; for `action_masks`, the environment has no masks of single
            numbers.
        """
        chosen = list(self._get_indices(indices))
        if attr_name == "action_masks" and self._entries is not None:
            return [functools.partial(self._action_masks, index) for index in chosen]
        if attr_name in ("action_space", "observation_space"):
            return [getattr(self, attr_name)] * len(chosen)
        if attr_name in _SHARED:
            return [getattr(self.vector_env, attr_name)] * len(chosen)
        raise AttributeError(f"the environments of a batch of {self.vector_env.env.name} have no {attr_name!r}.")

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Sets `params` of all environments from the next step on, as `GymnasiumVectorEnv.params` does.

        Raises:
          AttributeError: it is another attribute, or one of some environments: a batch shares its params.
          InvalidParamsError: the params belong to another environment, or a name or value is invalid.
        """
        if attr_name != "params" or len(set(self._get_indices(indices))) < self.num_envs:
            raise AttributeError(f"{attr_name!r} cannot be set: only 'params', of all environments of a batch, can.")
        self.vector_env.params = value

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Calls a method of each environment: there is `action_masks`, bool (n,), which actions are legal.

        Raises:
          AttributeError: there is no such method.
        """
        return [method(*method_args, **method_kwargs) for method in self.get_attr(method_name, indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """False for each: wrappers of Gymnasium wrap one environment."""
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
    """The entries of a batch, each of which has a mask, `_x` of `x`, that says which environments have it."""
    return [name for name in infos if f"_{name}" in infos]


def _entries_of(index: int, infos: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """What one environment has of these entries of a batch."""
    own = [name for name in names if infos[f"_{name}"][index]]
    return {name: jax.tree.map(lambda leaf: leaf[index], infos[name]) for name in own}
