"""Action masks: what their shape means, and random actions that they allow."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from envcore.errors import InvalidArgumentError
from envcore.spaces.base import Space, sample_integers
from envcore.spaces.discrete import Discrete, MultiDiscrete


def sample_legal(space: Space, key: jax.Array, mask: ArrayLike) -> jax.Array:
    """Returns a random value among those that an action mask allows; among all values where it allows none.

    Args:
      space: a `Discrete` or `MultiDiscrete` space.
      key: a random key.
      mask: bool, True for legal. For `Discrete(n)` of shape (n,). For `MultiDiscrete(nvec)` either of shape nvec, an
        entry for each combination of values; or of nvec's shape and one axis more, a row for each element, which it
        also is where the two shapes are equal.

    Raises:
      InvalidArgumentError: the space is another one, or the mask has another shape.
    """
    mask = jnp.asarray(mask, jnp.bool_)
    if masks_combinations(space, mask.shape):
        chosen = _choose(key, mask.ravel(), np.ones(mask.size, bool))
        return jnp.stack(jnp.unravel_index(chosen, mask.shape)).astype(space.dtype)
    return _choose(key, mask, entries_of_values(space))


def masks_combinations(space: Space, shape: tuple[int, ...]) -> bool:
    """Whether action masks of a shape have an entry for each combination of the values of a `MultiDiscrete`.

    If not, they have a row for each element, or are those of a `Discrete`; see `sample_legal`.

    Raises:
      InvalidArgumentError: the space is neither `Discrete` nor `MultiDiscrete`, or its masks cannot have this shape.
    """
    nvec = _numbers_of_values(space)
    rows = (*nvec.shape, int(nvec.max()))
    joint = tuple(nvec.tolist()) if nvec.ndim == 1 else rows
    if shape in (rows, joint):
        return shape != rows
    raise InvalidArgumentError(
        f"the mask of {space!r} must have shape {joint if joint == rows else f'{joint} or {rows}'}, got {shape}."
    )


def entries_of_values(space: Space) -> np.ndarray:
    """Which entries of an action mask with a row for each element stand for one of its values, bool like the mask.

    Rows are as long as the element with the most values needs. The mask of a `Discrete` is one row.

    Raises:
      InvalidArgumentError: the space is neither `Discrete` nor `MultiDiscrete`.
    """
    nvec = _numbers_of_values(space)
    return np.arange(nvec.max()) < nvec[..., None]


def _numbers_of_values(space: Space) -> np.ndarray:
    if isinstance(space, Discrete):
        return np.array(space.n)
    if isinstance(space, MultiDiscrete):
        return space.nvec
    raise InvalidArgumentError(f"a mask can only be used with a Discrete or MultiDiscrete space, got {space!r}.")


def _choose(key: jax.Array, mask: jax.Array, exists: np.ndarray) -> jax.Array:
    """The index, along the last axis, of one entry of a mask that is True; of any that exists where none is."""
    legal = mask & exists
    legal = jnp.where(legal.any(-1, keepdims=True), legal, exists)
    rank = sample_integers(key, legal.shape[:-1], 0, legal.sum(-1, dtype=jnp.int32) - 1)
    return jnp.argmax(jnp.cumsum(legal, -1, dtype=jnp.int32) > rank[..., None], -1).astype(jnp.int32)
