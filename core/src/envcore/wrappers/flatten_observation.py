"""`FlattenObservation`: observations as vectors."""

from __future__ import annotations

import dataclasses

import jax

from envcore import spaces
from envcore.typing import PyTree
from envcore.wrappers.base import Wrapper


@dataclasses.dataclass(frozen=True)
class FlattenObservation(Wrapper):
    """Observes a vector of shape (n,).

    A `Box` is reshaped and keeps its dtype. `Discrete` and `MultiDiscrete` become float32 one-hot vectors. The parts
    of `Tuple` and `Dict` (in the order of names) are flattened and joined as float32.
    """

    def observation_space(self, params: PyTree) -> spaces.Space:
        return self.batch_space(self.single_observation_space(params).flat_space())

    def observe(self, state: PyTree, params: PyTree) -> jax.Array:
        return self.over_batch(lambda obs: self.flatten(obs, params))(self.env.observe(state, params))

    def flatten(self, obs: PyTree, params: PyTree) -> jax.Array:
        """The vector for one observation of the wrapped environment."""
        return self.single_observation_space(params).flatten(obs)
