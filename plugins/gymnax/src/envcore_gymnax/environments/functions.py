"""Functions in gymnax's modules of environments that programs call."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from envcore_gymnax.utils import load_mnist


def randomize_cars(speeds: ArrayLike, directions: ArrayLike, old_cars: ArrayLike, initialize: ArrayLike) -> jax.Array:
    """The cars of Freeway with other speeds.

    Args:
      speeds: integers from 1 to 5, (8,).
      directions: -1 to the left or 1 to the right, (8,).
      old_cars: column, row, timer and speed of the cars before, integers (8, 4).
      initialize: whether they start in column 0 of rows 1 to 8 instead of where they are.

    Returns:
      The cars, int32 (8, 4).
    """
    signed = (jnp.asarray(speeds) * jnp.asarray(directions)).astype(jnp.int32)
    starts = np.stack([np.zeros(8, np.int32), np.arange(1, 9, dtype=np.int32)], axis=-1)
    places = jnp.where(initialize, starts, jnp.asarray(old_cars)[:, :2].astype(jnp.int32))
    return jnp.concatenate([places, jnp.stack([jnp.abs(signed), signed], axis=-1)], axis=-1)


FUNCTIONS: dict[str, dict[str, Any]] = {
    "Freeway-MinAtar": {"randomize_cars": randomize_cars},
    "MNISTBandit-bsuite": {"load_mnist": load_mnist},
}
"""What the module of an environment has beside its classes, by its id."""
