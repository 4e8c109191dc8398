"""Distributions of `MultiDiscrete` actions, for algorithms that take a distribution like `ppo.PPO`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.engine import arguments
from envcore.environment import Environment

from envcore_baselines.learner import ILLEGAL
from envcore_baselines.ppo import Categorical


class Combined(Categorical):
    """Joint distribution of several discrete numbers. `outputs` are logits, float32 (..., combinations).

    Args:
      shape: number of values of each number.
    """

    def __init__(self, shape: tuple[int, ...]):
        super().__init__(spaces.Discrete(int(np.prod(shape))))
        self._shape = shape

    def sample(self, outputs: jax.Array, key: jax.Array) -> jax.Array:
        return self._split(super().sample(outputs, key))

    def mode(self, outputs: jax.Array) -> jax.Array:
        return self._split(super().mode(outputs))

    def log_prob(self, outputs: jax.Array, action: jax.Array) -> jax.Array:
        return super().log_prob(outputs, jnp.ravel_multi_index(tuple(jnp.moveaxis(action, -1, 0)), self._shape, "clip"))

    def masked(self, outputs: jax.Array, mask: jax.Array) -> jax.Array:
        return super().masked(outputs, mask.reshape(outputs.shape))

    def _split(self, number: jax.Array) -> jax.Array:
        return jnp.stack(jnp.unravel_index(number, self._shape), -1).astype(jnp.int32)


class MultiCategorical:
    """Independent distributions of several discrete numbers. `outputs` are their logits in a row, float32 (..., n).

    Args:
      nvec: number of values of each number. Values start at 0.
    """

    num_constants, bounds = 0, None

    def __init__(self, nvec: np.ndarray):
        self._shape, sizes = nvec.shape, nvec.reshape(-1)
        self.num_outputs = int(sizes.sum())
        self._element = Categorical(spaces.Discrete(int(sizes.max())))
        self._exists = spaces.MultiDiscrete(sizes).mask_entries()
        self._column = (np.cumsum(sizes) - sizes)[:, None] + np.minimum(np.arange(sizes.max()), sizes[:, None] - 1)

    def sample(self, outputs: jax.Array, key: jax.Array) -> jax.Array:
        return self._shaped(self._element.sample(self._rows(outputs), key))

    def mode(self, outputs: jax.Array) -> jax.Array:
        return self._shaped(self._element.mode(self._rows(outputs)))

    def log_prob(self, outputs: jax.Array, action: jax.Array) -> jax.Array:
        rows = self._rows(outputs)
        return self._element.log_prob(rows, action.reshape(rows.shape[:-1])).sum(-1)

    def entropy(self, outputs: jax.Array) -> jax.Array:
        return self._element.entropy(self._rows(outputs)).sum(-1)

    def masked(self, outputs: jax.Array, mask: jax.Array) -> jax.Array:
        """Sets outputs of illegal values to `ILLEGAL`, except for numbers without a legal value.

        The mask has a row per number. All rows are as long as the largest number of values.
        """
        legal = mask.reshape(*outputs.shape[:-1], *self._exists.shape) & self._exists
        return jnp.where((legal | ~legal.any(-1, keepdims=True))[..., self._exists], outputs, ILLEGAL)

    def _shaped(self, action: jax.Array) -> jax.Array:
        return action.reshape(*action.shape[:-1], *self._shape)

    def _rows(self, outputs: jax.Array) -> jax.Array:
        """A row of logits per number, (..., numbers, most values), padded with logits that are never drawn."""
        return jnp.where(self._exists, outputs[..., self._column], ILLEGAL)


def of_several(env: Environment, params: Any) -> Combined | MultiCategorical | None:
    """The distribution for a `MultiDiscrete` action space, or None for other action spaces."""
    space = env.action_space(params)
    if not isinstance(space, spaces.MultiDiscrete):
        return None
    mask = arguments.action_mask_struct(env)
    is_combined = mask is not None and space.masks_combinations(mask.shape)
    return Combined(mask.shape) if is_combined and mask is not None else MultiCategorical(space.nvec)
