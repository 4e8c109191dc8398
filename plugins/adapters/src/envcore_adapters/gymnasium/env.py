"""`GymnasiumEnv`: one environment as a `gymnasium.Env`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import gymnasium
import jax
import numpy as np
from envcore import Environment
from envcore.engine import arguments
from envcore_native import MASK, Stepper

from envcore_adapters.gymnasium.adapter import Adapter
from envcore_adapters.gymnasium.conventions import (
    RENDER_HEIGHT,
    RENDER_MODES,
    check_rendering,
    checked_options,
    key_data,
)
from envcore_adapters.gymnasium.spaces import mask_entries, to_gymnasium_space, widener
from envcore_adapters.inputs import optional_seed, single, without_tensors


class GymnasiumEnv(Adapter, gymnasium.Env[Any, Any]):  # pyright: ignore[reportIncompatibleVariableOverride]
    """An environment of envcore as a `gymnasium.Env`.

    Observations are numpy arrays of the observation space's dtypes, new and writable on every step; those of a
    `Discrete` space are `numpy.int64`. Rewards are Python floats, `terminated` and `truncated` Python bools, and
    `info` has the environment's own entries. For what it shares with `GymnasiumVectorEnv`, see `Adapter`.

    Args:
      env: an environment, with or without wrappers, or an id for `envcore.make`.
      params: its params, or a mapping of those that differ from the defaults.
      render_mode: `"rgb_array"` for pictures, uint8 (height, width, 3), or None. `gymnasium.make` also takes `"human"`
        (a window, by pygame) and `"rgb_array_list"`.
      render_height: height of the pictures in pixels.
      **options: constructor options, where `env` is an id.

    Raises:
      UnknownEnvironmentError: nothing has this id.
      InvalidArgumentError: an argument is invalid, or the environment is a batch: use `GymnasiumVectorEnv`.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 10}  # noqa: RUF012

    def __init__(
        self,
        env: str | Environment,
        params: Any = None,
        *,
        render_mode: str | None = None,
        render_height: int = RENDER_HEIGHT,
        **options: Any,
    ):
        check_rendering(render_mode, render_height)
        try:
            self.env, self._params = single(env, params, options, "use GymnasiumVectorEnv")
        except ValueError as error:
            if "frameskip" not in options:
                raise
            # TorchRL tries this option, and goes on without it after this error.
            raise TypeError(f"unexpected keyword argument 'frameskip': {error}") from error
        self.metadata = {**type(self).metadata, "render_fps": self.env.render_fps}
        self.render_mode, self.render_height = render_mode, render_height
        self.action_space = to_gymnasium_space(self.env.action_space(self.params))
        observed = self.env.observation_space(self.params)
        self.observation_space = to_gymnasium_space(observed)
        self._widen = widener(observed)
        self._mask: Any = None  # of legal actions

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts an episode. `options` are not used.

        Raises:
          InvalidArgumentError: the seed is neither a non-negative integer nor None, or the options are not a dict.
        """
        self._check_open()
        checked_options(options)
        super().reset(seed=optional_seed(seed))
        if self._has_state and seed is None:
            obs, info = self._stepper.restart()
        else:
            obs, info = self._stepper.start(key_data(self.np_random))
        self._has_state = True
        self._mask = info.get(MASK)
        info = {} if self._mask is None else {MASK: self._mask}
        return obs if self._widen is None else self._widen(obs), info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Takes one step; after the end of an episode call `reset`.

        Raises:
          ResetNeeded: there has been no reset.
          InvalidActionError: the action is not of the action space's structure, shape or kind, is a discrete action
            outside of it, or is not finite.
        """
        if not self._has_state:
            self._begun()
        if type(action) is not int:
            action = without_tensors(action)
        obs, reward, terminated, truncated, info, _, _ = self._stepper.step(action)
        if info:
            info = {name: jax.tree.map(lambda x: x[()], entry) for name, entry in info.items()}
            self._mask = info.get(MASK)
        if self._widen is not None:
            obs = self._widen(obs)
        return obs, reward, terminated, truncated, info

    @property
    def action_masks(self) -> Callable[[], np.ndarray[Any, Any]]:
        """For sb3-contrib's MaskablePPO: returns which actions of the state are legal, bool (n,).

        For a `MultiDiscrete` space, the entries of one number's values follow those of the other's.

        Raises:
          AttributeError: the environment has no such masks: none at all, or those of combinations of several numbers.
        """
        if self._entries is None:
            raise AttributeError(f"{self.env.name} has no masks of single numbers.")
        return self._action_masks

    def _action_masks(self) -> np.ndarray[Any, Any]:
        self._begun()
        return self._mask[self._entries]

    @functools.cached_property
    def _entries(self) -> np.ndarray[Any, Any] | None:
        return mask_entries(self.env.action_space(self.params), arguments.action_mask_struct(self.env))

    @functools.cached_property
    def _stepper(self) -> Stepper:
        return Stepper(self.env, None, self.params, autoreset="disabled")
