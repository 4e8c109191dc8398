"""`FlattenObservation`: observations as vectors."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envcore import spaces
from envcore.wrappers.base import Wrapper


@dataclasses.dataclass(frozen=True)
class FlattenObservation(Wrapper):
    """Observes a vector of shape (n,).

    A `Box` is reshaped and keeps its dtype. `Discrete` and `MultiDiscrete` become float32 one-hot vectors. The parts
    of `Tuple` and `Dict` (in the order of names) are flattened and joined as float32.
    """

    def observation_space(self, params: Any) -> spaces.Space:
        return self.batch_space(_flat_space(self.single_observation_space(params)))

    def observe(self, state: Any, params: Any) -> jax.Array:
        return self.over_batch(lambda obs: self.flatten(obs, params))(self.env.observe(state, params))

    def flatten(self, obs: Any, params: Any) -> jax.Array:
        """The vector for one observation of the wrapped environment."""
        return _flatten(self.single_observation_space(params), obs)


def _flat_space(space: spaces.Space) -> spaces.Box:
    match space:
        case spaces.Box():
            return spaces.Box(space.low.reshape(-1), space.high.reshape(-1), None, space.dtype)
        case spaces.Discrete():
            return spaces.Box(0.0, 1.0, (space.n,))
        case spaces.MultiDiscrete():
            return spaces.Box(0.0, 1.0, (int(space.nvec.sum()),))
        case spaces.Tuple() | spaces.Dict():
            parts = [_flat_space(part) for part in _parts(space)]
            return spaces.Box(_join([part.low for part in parts]), _join([part.high for part in parts]))
        case _:
            raise TypeError(f"FlattenObservation knows envcore's own spaces, got {space!r}")


def _flatten(space: spaces.Space, obs: Any) -> jax.Array:
    match space:
        case spaces.Discrete():
            return jax.nn.one_hot(obs, space.n, dtype=jnp.float32)
        case spaces.MultiDiscrete():
            parts = zip(space.nvec.reshape(-1), obs.reshape(-1), strict=True)
            return jnp.concatenate([jax.nn.one_hot(x, int(n), dtype=jnp.float32) for n, x in parts])
        case spaces.Tuple() | spaces.Dict():
            return jnp.concatenate([_flatten(part, value).astype(jnp.float32) for part, value in space.parts(obs)])
        case _:
            return jnp.asarray(obs).reshape(-1)


def _parts(space: spaces.Tuple | spaces.Dict) -> list[spaces.Space]:
    return list(space.spaces.values() if isinstance(space, spaces.Dict) else space.spaces)


def _join(bounds: list[Any]) -> Any:
    traced = any(isinstance(bound, jax.Array) for bound in bounds)
    return (jnp if traced else np).concatenate([bound.astype(np.float32) for bound in bounds])
