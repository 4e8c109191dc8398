"""Use envcore environments with dm_env, for example in Acme or with bsuite's agents.

    env = DmEnv("Catch-bsuite", seed=0)

Needs dm_env, which the extra `envcore-adapters[dm-env]` installs.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from envcore import Environment, spaces
from envcore_native import Stepper, split

from envcore_adapters import needs
from envcore_adapters.inputs import optional_seed, single, without_tensors

with needs("dm_env"):
    import dm_env
    from dm_env import specs

__all__ = ["DmEnv", "to_spec"]


class DmEnv(dm_env.Environment):
    """Wraps an envcore environment as a `dm_env.Environment`.

    As dm_env specifies, calling `step` after the last step of an episode ignores the action and starts the next
    episode. Time limits are truncations, so the last step has discount 1. Observations are numpy arrays. Rewards and
    discounts are floats.

    Args:
      env: an environment, with or without wrappers, or an id for `envcore.make`.
      params: the environment's params, or a mapping of the values to change from the defaults.
      seed: a non-negative integer that seeds all randomness, or None for a different seed each time.
      **options: constructor options, if `env` is an id.

    Attributes:
      env: the environment.
      params: the environment's params.

    Raises:
      UnknownEnvironmentError: the id is unknown.
      InvalidArgumentError: an argument is invalid, or the environment is a batch.
    """

    def __init__(self, env: str | Environment, params: Any = None, seed: int | None = None, **options: Any):
        self.env, params = single(env, params, options, "pass a single one, dm_env has no batches")
        self.params = params
        self._words = np.random.SeedSequence(optional_seed(seed)).generate_state(2)
        self._has_begun, self._resets_next = False, True

    def reset(self) -> dm_env.TimeStep:
        """Starts an episode. State that survives an auto-reset in envcore, such as running statistics, is kept."""
        if self._has_begun:
            obs, _ = self._stepper.restart()
        else:
            obs, _ = self._stepper.start(self._words, spends=True)
        self._has_begun, self._resets_next = True, False
        return dm_env.restart(obs)

    def step(self, action: Any) -> dm_env.TimeStep:
        """Takes one step, or starts an episode if there is none or if the last one has ended.

        Raises:
          InvalidActionError: the action has the wrong structure, shape or kind, is outside a discrete space, or is not
            finite. The environment decides what to do with finite numbers outside the bounds.
        """
        if self._resets_next:
            return self.reset()
        obs, reward, terminated, truncated, *_ = self._stepper.step(without_tensors(action))
        self._resets_next = terminated or truncated
        if terminated:
            return dm_env.termination(reward, obs)
        return dm_env.truncation(reward, obs) if truncated else dm_env.transition(reward, obs)

    @functools.cached_property
    def _stepper(self) -> Stepper:
        return Stepper(self.env, None, self.params, autoreset="disabled", spend=split)

    def observation_spec(self) -> Any:
        """The spec of observations, with the same structure as the observations."""
        return to_spec(self.env.observation_space(self.params), "observation")

    def action_spec(self) -> Any:
        """The spec of actions, with the same structure as the actions."""
        return to_spec(self.env.action_space(self.params), "action")


def to_spec(space: spaces.Space, name: str) -> Any:
    """Converts a space to a spec with the same values, shape and dtype.

    `Tuple` and `Dict` spaces become tuples and dicts of specs.

    Raises:
      TypeError: the space has a type that envcore does not define.
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
            raise TypeError(f"only envcore's spaces have a counterpart in dm_env, got {space!r}")
