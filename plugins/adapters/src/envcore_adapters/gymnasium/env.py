"""`GymnasiumEnv`: one environment as a `gymnasium.Env`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import gymnasium
import jax
import numpy as np
from envcore import Environment, forks, spaces
from envcore.engine import arguments
from gymnasium.error import ResetNeeded

from envcore_adapters.gymnasium.actions import ActionReader
from envcore_adapters.gymnasium.conventions import (
    RENDER_HEIGHT,
    RENDER_MODES,
    check_rendering,
    checked_options,
    key_data,
)
from envcore_adapters.gymnasium.program import ACTION_MASK, Position, Program
from envcore_adapters.gymnasium.spaces import to_gymnasium_space
from envcore_adapters.inputs import optional_seed, single


class GymnasiumEnv(gymnasium.Env[Any, Any]):
    """An environment of envcore as a `gymnasium.Env`.

    Observations are numpy arrays of the observation space's dtypes, new and writable on every step; those of a
    `Discrete` space are `numpy.int64`. Rewards are Python floats, `terminated` and `truncated` Python bools, and
    `info` has the environment's own entries.

    `reset(seed=...)` begins from nothing. `reset()` keeps what survives an auto-reset in envcore, such as the
    statistics of `NormalizeObservation`.

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
        self.env, self.params = single(env, params, options, "use GymnasiumVectorEnv")
        self.metadata = {**type(self).metadata, "render_fps": self.env.render_fps}
        self.render_mode, self.render_height = render_mode, render_height
        space = self.env.action_space(self.params)
        self.action_space = to_gymnasium_space(space)
        self.observation_space = to_gymnasium_space(self.env.observation_space(self.params))
        self._program = Program.of(self.env)
        self._packed_params = self._program.params.pack(self.params)
        self._position: Position | None = None
        self._action = ActionReader(self.env, space, reads_devices=True)

    @property
    def state(self) -> Any:
        """The state of the environment, as `step` of envcore returns it.

        Raises:
          ResetNeeded: there has been no reset.
        """
        return self._program.snapshot(self._latest()).state

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts an episode; info has the `action_mask` if the environment has masks. `options` are not used.

        Raises:
          InvalidArgumentError: the seed is neither a non-negative integer nor None, or the options are not a dict.
        """
        forks.check()
        checked_options(options)
        super().reset(seed=optional_seed(seed))
        if self._position is None or seed is not None:
            position = self._program.start(key_data(self.np_random), self._packed_params)
        else:  # a key from the host would make it three times slower
            position = self._program.restart(self._position, self._packed_params)
        self._position = position
        host = self._program.memories(position)
        return self._program.obs(host), self._program.first_info(host)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Takes one step; after the end of an episode call `reset`.

        Raises:
          ResetNeeded: there has been no reset.
          InvalidActionError: the action is not of the action space's structure, shape or kind, is a discrete action
            outside of it, or is not finite.
        """
        program = self._program
        checked = self._action.index(action) if program.looks_ahead else self._action(action)
        self._position = position = program.step(self._latest(), self._packed_params, checked)
        host = program.memories(position)
        return program.obs(host), *program.reward_and_flags(host[0]), program.info(host)

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

    def render(self) -> Any:
        """The picture of the state: uint8 (height, width, 3), or None without a render mode."""
        if self.render_mode is None:
            return None
        return np.array(render(self.env, self.render_height, self.state, self.params))

    def _action_masks(self) -> np.ndarray[Any, Any]:
        info = self._program.first_info(self._program.memories(self._latest()))
        return info[ACTION_MASK][self._entries]

    @functools.cached_property
    def _entries(self) -> np.ndarray[Any, Any] | None:
        """Which entries of an action mask are those of a number's value, bool; None without masks of single numbers."""
        space, mask = self.env.action_space(self.params), arguments.action_mask_struct(self.env)
        if mask is None or not isinstance(space, spaces.Discrete | spaces.MultiDiscrete):
            return None
        return None if space.masks_combinations(mask.shape) else space.mask_entries()

    def _latest(self) -> Position:
        forks.check()
        if self._position is None:
            raise ResetNeeded(f"{self.env.name} has no state yet: call reset() first.")
        return self._position

    def __getstate__(self) -> dict[str, Any]:
        """Compiled programs stay behind; a copy finds or makes them again."""
        return {name: value for name, value in vars(self).items() if name != "_program"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._program = Program.of(self.env)


@functools.partial(jax.jit, static_argnums=(0, 1))
def render(env: Environment, height: int, state: Any, params: Any) -> jax.Array:
    return env.render(state, params, height=height)
