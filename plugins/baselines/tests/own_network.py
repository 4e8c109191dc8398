"""Networks as a user would write them: classes, and functions for two actions."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Linear:
    num_outputs: int

    def init(self, key: jax.Array, obs: jax.Array) -> dict[str, jax.Array]:
        shape = (obs.shape[-1], self.num_outputs)
        return {"policy": jnp.zeros(shape), "value": jax.random.normal(key, obs.shape[-1:])}

    def apply(self, weights: Any, obs: jax.Array) -> tuple[jax.Array, jax.Array]:
        return obs @ weights["policy"], obs @ weights["value"]


class LinearValues(Linear):
    """Of actions."""

    def apply(self, weights: Any, obs: jax.Array) -> Any:
        return obs @ weights["policy"]


def init(key: jax.Array, obs: jax.Array) -> dict[str, jax.Array]:
    return Linear(2).init(key, obs)


def apply(weights: Any, obs: jax.Array) -> tuple[jax.Array, jax.Array]:
    return Linear(2).apply(weights, obs)
