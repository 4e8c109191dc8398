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
    """Wraps an envcore environment as a `gymnasium.Env`.

    Observations are numpy arrays with the dtypes of the observation space. They are new and writable on every step.
    Observations of a `Discrete` space are `numpy.int64`. Rewards are Python floats, `terminated` and `truncated` are
    Python bools, and `info` contains the environment's `info` entries. See `Adapter` for params, seeds and masks.

    Args:
      env: an environment, with or without wrappers, or an id for `envcore.make`.
      params: the environment's params, or a mapping of the values to change from the defaults.
      render_mode: `"rgb_array"` to render uint8 (height, width, 3), or None. `gymnasium.make` also accepts `"human"`
        (a pygame window) and `"rgb_array_list"`.
      render_height: height of the rendered image in pixels.
      **options: constructor options, if `env` is an id.

    Raises:
      UnknownEnvironmentError: the id is unknown.
      InvalidArgumentError: an argument is invalid, or the environment is a batch. Use `GymnasiumVectorEnv` for batches.
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
            # TorchRL tries this option first, and leaves it out after a TypeError.
            raise TypeError(f"unexpected keyword argument 'frameskip': {error}") from error
        self.metadata = {**type(self).metadata, "render_fps": self.env.render_fps}
        self.render_mode, self.render_height = render_mode, render_height
        self.action_space = to_gymnasium_space(self.env.action_space(self.params))
        observed = self.env.observation_space(self.params)
        self.observation_space = to_gymnasium_space(observed)
        self._widen = widener(observed)
        self._mask: Any = None  # of legal actions

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts an episode. `options` are ignored.

        Raises:
          InvalidArgumentError: `seed` is neither a non-negative integer nor None, or `options` is not a dict.
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
        """Takes one step. Call `reset` after the end of an episode.

        Raises:
          ResetNeeded: `reset` has not been called.
          InvalidActionError: the action has the wrong structure, shape or kind, is outside a discrete space, or is not
            finite.
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
        """A function that returns the mask of legal actions, bool (n,), for sb3-contrib's MaskablePPO.

        For a `MultiDiscrete` space, the masks of the components are concatenated.

        Raises:
          AttributeError: the environment has no action mask, or masks combinations of several components.
        """
        if self._entries is None:
            raise AttributeError(f"{self.env.name} has no action masks, or masks combinations of components.")
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
