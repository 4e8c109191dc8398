"""`LogWrapper`: logs the returns and lengths of episodes."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from envcore.environment import Outcome, next_time
from envcore.typing import PyTree
from envcore.wrappers.base import Wrapper, WrapperState


@struct.dataclass
class LogState(WrapperState):
    """State of `LogWrapper`. Every field has the environment's batch shape.

    Attributes:
      episode_returns: sum of rewards in the running episode, float32.
      episode_lengths: number of steps in the running episode, int32.
      returned_episode_returns: return of the last finished episode, float32, 0 before the first end.
      returned_episode_lengths: length of the last finished episode, int32, 0 before the first end.
      returned_episode_valid: whether any episode has ended, bool.
    """

    episode_returns: jax.Array
    episode_lengths: jax.Array
    returned_episode_returns: jax.Array
    returned_episode_lengths: jax.Array
    returned_episode_valid: jax.Array


@dataclasses.dataclass(frozen=True)
class LogWrapper(Wrapper):
    """Adds the return and length of the last finished episode to `info`, on every step.

    The entries, each of the environment's batch shape:
      returned_episode: bool, whether an episode ended on this step.
      returned_episode_returns: float32, return of the last finished episode.
      returned_episode_lengths: int32, length of the last finished episode.
      returned_episode_valid: bool, False until an episode has ended. Ignore the two entries above until then.
    """

    def init_state(self, draws: PyTree, params: PyTree, /) -> LogState:
        env_state = super().init_state(draws, params)
        zero, count = jnp.zeros(self.batch_shape, jnp.float32), jnp.zeros(self.batch_shape, jnp.int32)
        return LogState(env_state, zero, count, zero, count, jnp.zeros(self.batch_shape, jnp.bool_))

    def advance(self, state: LogState, action: PyTree, draws: PyTree, params: PyTree) -> Outcome:
        outcome = self.env.advance(state.env_state, action, draws, params)
        done = outcome.terminated | outcome.truncated
        returns, lengths = state.episode_returns + outcome.reward, next_time(state.episode_lengths)
        state = LogState(
            env_state=outcome.state,
            episode_returns=jnp.where(done, np.float32(0), returns),
            episode_lengths=jnp.where(done, np.int32(0), lengths),
            returned_episode_returns=jnp.where(done, returns, state.returned_episode_returns),
            returned_episode_lengths=jnp.where(done, lengths, state.returned_episode_lengths),
            returned_episode_valid=state.returned_episode_valid | done,
        )
        names = ("returned_episode_returns", "returned_episode_lengths", "returned_episode_valid")
        info = {"returned_episode": done, **{name: getattr(state, name) for name in names}}
        return outcome._replace(state=state, info={**outcome.info, **info})

    def restart(self, key: jax.Array, done: jax.Array, state: LogState, params: PyTree) -> LogState:
        return dataclasses.replace(state, env_state=self.env.restart(key, done, state.env_state, params))
