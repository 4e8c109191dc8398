"""Gymnasium's conventions for render modes, seeds, `reset` options and the infos of finished episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from envcore.checks import positive_integer
from envcore.errors import InvalidArgumentError
from envcore_native import MASK
from gymnasium.utils import seeding

from envcore_adapters.inputs import optional_seed

RENDER_MODES = ("rgb_array",)
RENDER_HEIGHT = 400
"""The default height in pixels, which most of Gymnasium's environments use too."""


def check_rendering(render_mode: str | None, height: int) -> None:
    """Raises `InvalidArgumentError` if the render mode is unsupported or the height is invalid."""
    positive_integer("render_height", height, InvalidArgumentError)
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise InvalidArgumentError(
            f"render_mode must be None or 'rgb_array', got {render_mode!r}. For 'human' and 'rgb_array_list', use "
            "gymnasium.make, or wrap the environment in gymnasium.wrappers.HumanRendering or RenderCollection."
        )


def checked_options(options: Any) -> Mapping[str, Any]:
    """Returns the `reset` options, or an empty mapping for None.

    Raises:
      InvalidArgumentError: `options` is neither a mapping nor None.
    """
    if options is not None and not isinstance(options, Mapping):
        raise InvalidArgumentError(f"options must be a dict or None, got {options!r}.")
    return options or {}


def seeds_of_each(seed: Any, num_envs: int) -> list[Any] | None:
    """Returns the seed or None for each environment of a batch. None if `seed` is not a list, a tuple or an array.

    Raises:
      InvalidArgumentError: the number of seeds is not `num_envs`, or one is neither a non-negative integer nor None.
    """
    if not isinstance(seed, list | tuple | np.ndarray):
        return None
    shape = seed.shape if isinstance(seed, np.ndarray) else (len(seed),)
    if shape != (num_envs,):
        raise InvalidArgumentError(f"a list of seeds must have shape ({num_envs},), one per environment, got {shape}.")
    return [optional_seed(each) for each in seed]


def key_data(generator: np.random.Generator) -> np.ndarray[Any, Any]:
    """Draws the data of a random key from numpy's generator, uint32 (2,)."""
    return generator.integers(2**32, size=2, dtype=np.uint32)


def key_data_of_each(seeds: Sequence[int | None], generator: np.random.Generator) -> np.ndarray[Any, Any]:
    """Draws key data for each environment from its seed, or from `generator` for None, uint32 (num_envs, 2)."""
    own = (generator if seed is None else seeding.np_random(seed)[0] for seed in seeds)
    return np.array([key_data(each) for each in own])


def masked(info: dict[str, Any], mask: Any) -> dict[str, Any]:
    """Adds to a batch's info, for each entry `x`, the mask `_x` of the environments that have it.

    Action masks are valid in every environment, so their mask is all True.
    """
    return info | {f"_{name}": np.ones_like(mask) if name == MASK else mask.copy() for name in info}


def final_entries(done: np.ndarray[Any, Any], last_obs: Any, infos: Any) -> dict[str, Any]:
    """Returns the entries of `infos` for episodes that ended in this step. Empty if no episode has ended.

    Args:
      done: which episodes have ended, bool (num_envs,).
      last_obs: the observations before the reset, a pytree of arrays.
      infos: the other entries of this step.
    """
    if not done.any():
        return {}
    final_obs = np.full(done.shape, None, object)
    for index in np.flatnonzero(done):
        final_obs[index] = jax.tree.map(lambda leaf, index=index: leaf[index], last_obs)
    return {"final_obs": final_obs, "_final_obs": done.copy(), "final_info": infos, "_final_info": done.copy()}
