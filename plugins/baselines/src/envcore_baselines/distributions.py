"""Distributions of actions, as functions of a network's outputs."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.engine import arguments
from envcore.environment import Environment
from flax import linen as nn

from envcore_baselines.errors import ConfigError
from envcore_baselines.learner import ILLEGAL, masked


class Categorical(NamedTuple):
    """Distribution of discrete actions, for logits of shape (..., actions).

    Attributes:
      num_actions: their number.
      combined: where an action is a combination of values, the number of values of each of its elements; () where it is
        a single number.
    """

    num_actions: int
    combined: tuple[int, ...] = ()

    num_constants = 0

    @property
    def num_outputs(self) -> int:
        return self.num_actions

    def sample(self, logits: jax.Array, key: jax.Array) -> jax.Array:
        return jax.random.categorical(key, logits)

    def mode(self, logits: jax.Array) -> jax.Array:
        return logits.argmax(-1)

    def log_prob(self, logits: jax.Array, action: jax.Array) -> jax.Array:
        return jnp.take_along_axis(nn.log_softmax(logits), action[..., None], axis=-1)[..., 0]

    def entropy(self, logits: jax.Array) -> jax.Array:
        return -(nn.softmax(logits) * nn.log_softmax(logits)).sum(-1)

    def masked(self, logits: jax.Array, mask: jax.Array | None) -> jax.Array:
        """The logits, `ILLEGAL` for illegal actions; as they are where the mask allows none, or is None."""
        return logits if mask is None else masked(logits, mask.reshape(logits.shape))

    def to_env(self, action: jax.Array) -> jax.Array:
        action = action.astype(jnp.int32)
        return jnp.stack(jnp.unravel_index(action, self.combined), -1) if self.combined else action


class MultiCategorical(NamedTuple):
    """Independent distributions of the elements of a discrete array: outputs are the logits of one after the other.

    Attributes:
      nvec: the number of values of each element, which are counted from 0.
    """

    nvec: np.ndarray

    num_constants = 0

    @property
    def num_outputs(self) -> int:
        return int(self.nvec.sum())

    def sample(self, outputs: jax.Array, key: jax.Array) -> jax.Array:
        return self._element.sample(self._rows(outputs), key)

    def mode(self, outputs: jax.Array) -> jax.Array:
        return self._element.mode(self._rows(outputs))

    def log_prob(self, outputs: jax.Array, action: jax.Array) -> jax.Array:
        return self._element.log_prob(self._rows(outputs), action).sum(-1)

    def entropy(self, outputs: jax.Array) -> jax.Array:
        return self._element.entropy(self._rows(outputs)).sum(-1)

    def masked(self, outputs: jax.Array, mask: jax.Array | None) -> jax.Array:
        """The outputs, `ILLEGAL` for illegal values; as they are for an element without a legal one, or without a mask.

        The mask has a row for each element, as long as the element with the most values needs.
        """
        if mask is None:
            return outputs
        exists = self._exists
        legal = mask.reshape(*outputs.shape[:-1], *exists.shape) & exists
        return jnp.where((legal | ~legal.any(-1, keepdims=True))[..., exists], outputs, ILLEGAL)

    def to_env(self, action: jax.Array) -> jax.Array:
        return self._element.to_env(action.reshape(*action.shape[:-1], *self.nvec.shape))

    @property
    def _element(self) -> Categorical:
        """The distribution of an element with the most values."""
        return Categorical(int(self.nvec.max()))

    @property
    def _exists(self) -> np.ndarray:
        """Which entries of the elements' rows are values, bool (elements, most values)."""
        return spaces.MultiDiscrete(self.nvec.reshape(-1)).mask_entries()

    def _rows(self, outputs: jax.Array) -> jax.Array:
        """A row of logits an element, (..., elements, most values); so low that it is never drawn after the last."""
        sizes = self.nvec.reshape(-1)
        column = (np.cumsum(sizes) - sizes)[:, None] + np.minimum(np.arange(sizes.max()), sizes[:, None] - 1)
        return jnp.where(self._exists, outputs[..., column], ILLEGAL)


class Gaussian(NamedTuple):
    """Independent normal distributions of continuous actions: outputs are means and logarithms of deviations.

    The deviations are learned, but do not depend on the observation.
    Actions are clipped to [-1, 1] and mapped to the bounds of the environment, or used as they are without bounds.
    """

    low: np.ndarray
    high: np.ndarray

    @property
    def num_outputs(self) -> int:
        return 2 * self.low.size

    @property
    def num_constants(self) -> int:
        return self.low.size

    def sample(self, outputs: jax.Array, key: jax.Array) -> jax.Array:
        mean, log_std = jnp.split(outputs, 2, axis=-1)
        return mean + jnp.exp(log_std) * jax.random.normal(key, mean.shape)

    def mode(self, outputs: jax.Array) -> jax.Array:
        return jnp.split(outputs, 2, axis=-1)[0]

    def log_prob(self, outputs: jax.Array, action: jax.Array) -> jax.Array:
        mean, log_std = jnp.split(outputs, 2, axis=-1)
        return jax.scipy.stats.norm.logpdf(action, mean, jnp.exp(log_std)).sum(-1)

    def entropy(self, outputs: jax.Array) -> jax.Array:
        _, log_std = jnp.split(outputs, 2, axis=-1)
        return (log_std + 0.5 * np.log(2 * np.pi * np.e).astype(np.float32)).sum(-1)

    def masked(self, outputs: jax.Array, mask: None) -> jax.Array:
        """The outputs: continuous actions have no masks."""
        return outputs

    def to_env(self, action: jax.Array) -> jax.Array:
        action = action.reshape(*action.shape[:-1], *self.low.shape)
        if not (np.isfinite(self.low) & np.isfinite(self.high)).all():
            return jnp.clip(action, self.low, self.high)
        share = (jnp.clip(action, -1, 1) + 1) / 2
        return jnp.asarray(self.low * (1 - share) + self.high * share)


def distribution(algorithm: str, env: Environment, params: Any) -> Categorical | MultiCategorical | Gaussian:
    """The distribution for the actions of an environment.

    Args:
      algorithm: its name, for the error message.
      env: the environment.
      params: its params.

    Raises:
      ConfigError: the actions are not those of a `Discrete`, a `MultiDiscrete` or a float `Box`.
    """
    space = env.action_space(params)
    if isinstance(space, spaces.Discrete):
        return Categorical(space.n)
    if isinstance(space, spaces.MultiDiscrete):
        mask = arguments.action_mask_struct(env)
        if mask is not None and space.masks_combinations(mask.shape):
            return Categorical(int(np.prod(mask.shape)), mask.shape)
        return MultiCategorical(space.nvec)
    if isinstance(space, spaces.Box) and space.dtype.kind == "f":
        return Gaussian(np.asarray(space.low, np.float32), np.asarray(space.high, np.float32))
    raise ConfigError(
        f"{algorithm} needs actions of a Discrete, a MultiDiscrete or a float Box, {env.name} has {space}."
    )
