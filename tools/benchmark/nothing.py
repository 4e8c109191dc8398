"""An environment that does nothing: what a loop costs by itself."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.environment import Environment, EnvParams, EnvState


@dataclasses.dataclass(frozen=True)
class Nothing(Environment[EnvState, EnvParams]):
    """Episodes of 1,000 steps without a reward, whose observation is the time.

    Attributes:
      is_continuous: whether an action is a number, which nothing depends on either.
    """

    is_continuous: bool = False

    @property
    def default_params(self) -> EnvParams:
        return EnvParams(max_steps_in_episode=1_000)

    def init_state(self, draws: jax.Array, params: EnvParams) -> EnvState:
        return EnvState(time=jnp.int32(0))

    def transition(
        self, state: EnvState, action: jax.Array, draws: jax.Array, params: EnvParams
    ) -> tuple[EnvState, jax.Array, jax.Array]:
        return state, (action.sum() > 0).astype(jnp.float32), jnp.bool_(False)

    def observe(self, state: EnvState, params: EnvParams) -> jax.Array:
        return state.time.astype(jnp.float32)[None]

    def action_space(self, params: EnvParams) -> spaces.Space:
        return spaces.Box(-1, 1, (1,), np.float32) if self.is_continuous else spaces.Discrete(2)

    def observation_space(self, params: EnvParams) -> spaces.Space:
        return spaces.Box(0, np.inf, (1,), np.float32)
