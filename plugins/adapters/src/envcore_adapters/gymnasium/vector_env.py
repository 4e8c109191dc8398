"""`GymnasiumVectorEnv`: many environments as one `gymnasium.vector.VectorEnv`."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any, Literal

import jax
import numpy as np
from envcore import Environment
from envcore.checks import positive_integer
from envcore.errors import InvalidArgumentError
from envcore.wrappers import Batched, Sharded, Wrapper
from envcore_native import MASK, Stepper
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from envcore_adapters.gymnasium.adapter import Adapter
from envcore_adapters.gymnasium.conventions import (
    RENDER_HEIGHT,
    RENDER_MODES,
    check_rendering,
    checked_options,
    final_entries,
    key_data,
    key_data_of_each,
    masked,
    seeds_of_each,
)
from envcore_adapters.gymnasium.spaces import to_gymnasium_space, widener
from envcore_adapters.gymnasium.specs import shortened
from envcore_adapters.inputs import chosen, optional_seed, without_tensors

Kind = Literal["numpy", "jax", "torch"]
"""The array types that a batch can return."""


class GymnasiumVectorEnv(Adapter, VectorEnv[Any, Any, Any]):  # pyright: ignore[reportIncompatibleVariableOverride]
    """Wraps a batch of envcore environments as a `gymnasium.vector.VectorEnv`.

    Each step is a single call of compiled code. The arrays it returns are writable, except for JAX arrays. Each entry
    `x` of `infos` comes with the mask `_x` of the environments that have it. See `Adapter` for params, seeds and action
    masks.

    The autoreset modes are Gymnasium's:

    - NEXT_STEP: the step after the end of an episode ignores the action, resets, and has reward 0. Statistics that a
      batch shares, such as the running mean of `NormalizeObservation(Batched(env, n))`, include that step.
    - SAME_STEP: the last step of an episode returns the first observation of the next one.
      `infos["final_obs"]` is an object array with the last observation of each episode that ended (mask `_final_obs`),
      and `infos["final_info"]` has the info entries of that step.
    - DISABLED: you reset finished environments with `reset(options={"reset_mask": mask})`, where `mask` is bool
      (num_envs,).

    Args:
      env: an environment, with or without wrappers, or an id for `envcore.make`. It may be a batch, such as
        `NormalizeObservation(Batched(env, 64))`.
      num_envs: number of environments, at least 1. None if `env` is a batch.
      params: the environments' params, or a mapping of the values to change from the defaults.
      max_episode_steps: a shorter time limit, as `gymnasium.make_vec` passes it. None for the environment's limit.
      autoreset_mode: an `AutoresetMode`, or its value.
      arrays: the type of the returned arrays, `"numpy"`, `"jax"` or `"torch"`. Tensors are shared by DLPack and stay on
        JAX's device. You may pass actions of any of the three types.
      render_mode: `"rgb_array"` to render images, or None.
      render_height: height of the rendered images in pixels.
      **options: constructor options, if `env` is an id.

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
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        arrays: Kind = "numpy",
        render_mode: str | None = None,
        render_height: int = RENDER_HEIGHT,
        **options: Any,
    ):
        check_rendering(render_mode, render_height)
        self.autoreset_mode = _autoreset_mode(autoreset_mode)
        self.arrays: Kind = arrays
        single, self._params = chosen(env, params, options)
        if max_episode_steps is not None:
            self._params = shortened(self._params, max_episode_steps)
        self._convert = _converter(arrays)
        self.env = _batch(single, num_envs)
        (self.num_envs,) = self.env.batch_shape
        self.render_mode, self.render_height = render_mode, render_height
        self.metadata = {
            "render_modes": list(RENDER_MODES),
            "render_fps": self.env.render_fps,
            "autoreset_mode": self.autoreset_mode,
        }
        space = self.env.action_space(self.params)
        self.single_action_space = to_gymnasium_space(space.unbatch())
        observed = self.env.observation_space(self.params).unbatch()
        self.single_observation_space = to_gymnasium_space(observed)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._widen = widener(observed) if arrays == "numpy" else None
        self._resets = np.zeros(self.num_envs, bool)  # environments that the next step resets, in NEXT_STEP mode

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Starts an episode in every environment, or only where `options["reset_mask"]`, bool (num_envs,), is True.

        A single seed seeds the whole batch, and each environment starts in a different state. You can also pass a list
        with a seed for each environment. Each then starts in the same state as a `GymnasiumEnv` after
        `reset(seed=...)`, so equal seeds give equal initial states. Later randomness depends on the whole list. None in
        the list resets that environment without a seed.

        Raises:
          InvalidArgumentError: a seed is not a non-negative integer, the list has the wrong length, or the mask has the
            wrong type or shape or selects no environment.
          ResetNeeded: there is a mask, but nothing has been reset yet.
          ClosedEnvironmentError: the batch has been closed.
        """
        self._check_open()
        seeds = seeds_of_each(seed, self.num_envs)
        is_new = seed is not None if seeds is None else None not in seeds
        mask = checked_options(options).get("reset_mask")
        if mask is not None:
            mask = self._checked_mask(mask)
        if seeds is None:
            super().reset(seed=optional_seed(seed))
        elif is_new:
            self.np_random = np.random.default_rng(seeds)
        key = key_data(self.np_random)
        chosen = np.ones(self.num_envs, bool) if mask is None else mask
        if seeds is not None and not is_new and self._has_state:
            seeded = np.array([each is not None for each in seeds])
            keys = key_data_of_each(seeds, self.np_random)
            if (chosen & ~seeded).any():
                self._stepper.restart(key, chosen & ~seeded)
            obs, info = self._stepper.start(key, chosen & seeded, keys)
        elif is_new or not self._has_state:
            keys = None if seeds is None else key_data_of_each(seeds, self.np_random)
            obs, info = self._stepper.start(key, mask, keys)
        else:
            obs, info = self._stepper.restart(key, mask)
        self._has_state = True
        self._resets &= False if mask is None else ~mask
        infos = {MASK: _where(chosen, info[MASK]), f"_{MASK}": chosen} if MASK in info else {}
        return self._given(obs if self._widen is None else self._widen(obs)), self._given(infos)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Takes one step in every environment.

        Returns:
          Observations, rewards (float32), terminations, truncations and infos.

        Raises:
          ResetNeeded: `reset` has not been called, or autoreset is disabled and you did not reset an episode that has
            ended.
          InvalidActionError: the actions have the wrong structure, shape or kind, are outside a discrete space, or are
            not finite.
          ClosedEnvironmentError: the batch has been closed.
        """
        stepper, mode = self._begun(), self.autoreset_mode
        if mode is AutoresetMode.DISABLED and stepper.done.any():
            raise ResetNeeded(
                "an episode has ended, and autoreset is disabled: "
                "call reset(options={'reset_mask': terminations | truncations}) first."
            )
        obs, reward, terminated, truncated, infos, final_obs, final_info = stepper.step(without_tensors(actions))
        if self._widen is not None:
            obs, final_obs = self._widen(obs), None if final_obs is None else self._widen(final_obs)
        if mode is AutoresetMode.SAME_STEP:
            done = np.asarray(terminated) | np.asarray(truncated)
            infos = masked(infos, ~done)
            if final_info is not None and done.any():
                last = {name: x for name, x in final_info.items() if name != MASK}
                infos |= final_entries(done, self._given(final_obs), self._given(masked(last, done)))
        elif infos:
            infos = masked(infos, ~self._resets)
            if mode is AutoresetMode.NEXT_STEP:
                self._resets = np.asarray(terminated) | np.asarray(truncated)
        return self._given((obs, reward, terminated, truncated, infos))

    def render(self) -> Any:
        """Renders each environment as uint8 (height, width, 3), in a tuple. Returns None without a render mode."""
        pictures = super().render()
        return None if pictures is None else tuple(pictures)

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Calls a method of the whole batch by its name, as skrl does for `render`."""
        return getattr(self, name)(*args, **kwargs)

    def close_extras(self, **kwargs: Any) -> None:
        """Frees the states. Afterwards `reset`, `step` and `state` raise `ClosedEnvironmentError`."""
        self._has_state = False
        vars(self).pop("_stepper", None)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_convert"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._convert = _converter(self.arrays)

    @functools.cached_property
    def _stepper(self) -> Stepper:
        arrays = "numpy" if self.arrays == "numpy" else "jax"
        mode: Any = self.autoreset_mode.name.lower()
        return Stepper(self.env, None, self.params, autoreset=mode, arrays=arrays)

    def _check_open(self) -> None:
        super()._check_open()
        if self.closed:
            raise ClosedEnvironmentError(f"the batch of {self.env.name} is closed: make another one.")

    def _given(self, tree: Any) -> Any:
        convert = self._convert
        return tree if convert is None else jax.tree.map(lambda x: x if x.dtype == object else convert(x), tree)

    def _checked_mask(self, mask: Any) -> np.ndarray[Any, Any]:
        given = without_tensors(mask)
        is_valid = getattr(given, "dtype", None) == np.bool_ and np.shape(given) == (self.num_envs,)
        mask = np.array(given, bool) if is_valid else np.zeros(0, bool)
        if not mask.any():
            raise InvalidArgumentError(
                f"options['reset_mask'] must be a bool array ({self.num_envs},) with at least one True, got {given!r}."
            )
        self._begun()
        return mask


def _batch(env: Environment, num_envs: int | None) -> Environment:
    inner: Any = env
    while isinstance(inner, Wrapper):
        if isinstance(inner, Sharded):
            raise InvalidArgumentError(f"{env.name} is split over devices by Sharded: use Batched here.")
        inner = inner.env
    if len(env.batch_shape) > 1:
        raise InvalidArgumentError(f"{env.name} is a batch of shape {env.batch_shape}, but must have one axis.")
    if not env.batch_shape:
        return Batched(env, positive_integer("num_envs", num_envs, InvalidArgumentError))
    if num_envs not in (None, env.batch_shape[0]):
        raise InvalidArgumentError(f"{env.name} is a batch of {env.batch_shape[0]} environments, not {num_envs}.")
    return env


def _where(chosen: np.ndarray[Any, Any], flags: Any) -> Any:
    return flags & chosen.reshape(-1, *[1] * (flags.ndim - 1))


def _autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        values = ", ".join(repr(each.value) for each in AutoresetMode)
        message = f"autoreset_mode must be an AutoresetMode or one of {values}, got {mode!r}."
    raise InvalidArgumentError(message)


def _converter(kind: Kind) -> Callable[[Any], Any] | None:
    """Returns a function that converts the arrays of a step to this type. None if no conversion is needed.

    Raises:
      InvalidArgumentError: the type is unknown, or PyTorch is not installed.
    """
    if kind in ("numpy", "jax"):
        return None
    if kind != "torch":
        raise InvalidArgumentError(f"arrays must be 'numpy', 'jax' or 'torch', got {kind!r}.")
    try:
        return importlib.import_module("torch").from_dlpack
    except ImportError as error:
        raise InvalidArgumentError("arrays='torch' needs PyTorch: run `pip install torch`.") from error
