"""A replay buffer as pure functions: a ring of transitions, stored as arrays."""

from __future__ import annotations

from typing import TypeVar

import jax
import jax.numpy as jnp
from envcore import random

T = TypeVar("T")


def empty(struct: T, capacity: int) -> T:
    """A buffer without transitions, zeros (capacity, *shape), for transitions of these shapes and dtypes."""
    return jax.tree.map(lambda x: jnp.zeros((capacity, *x.shape), x.dtype), struct)


def add(replay: T, transitions: T, count: jax.Array) -> T:
    """The buffer with a batch of transitions, (N, *shape) with an N that divides the capacity, in place of the oldest.

    Args:
      replay: the buffer.
      transitions: the new ones.
      count: number of transitions that were added so far, a multiple of N.
    """

    def write(rows: jax.Array, new: jax.Array) -> jax.Array:
        start = count % rows.shape[0]
        return jax.lax.dynamic_update_slice_in_dim(rows, new.astype(rows.dtype), start, axis=0)

    return jax.tree.map(write, replay, transitions)


def sample(replay: T, count: jax.Array, size: int, key: jax.Array) -> T:
    """A batch of `size` stored transitions, drawn uniformly with replacement; `count` were added so far, at least 1."""
    capacity = jax.tree.leaves(replay)[0].shape[0]
    stored = jnp.minimum(count, capacity)
    rows = (random.uniform(key, (size,)) * stored).astype(jnp.int32)
    return jax.tree.map(lambda x: x[jnp.minimum(rows, stored - 1)], replay)
