"""`FrameStack`: stacks the last observations."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
from flax import struct

from envcore import checks, spaces, trees
from envcore.environment import Environment, Outcome
from envcore.typing import PyTree
from envcore.wrappers.base import Wrapper, WrapperState


@struct.dataclass
class FrameStackState(WrapperState):
    """State of `FrameStack`.

    Attributes:
      frames: the observation, each leaf with an axis of `num_frames` after the batch axes, oldest first.
    """

    frames: PyTree


@dataclasses.dataclass(frozen=True)
class FrameStack(Wrapper):
    """Observes the last `num_frames` observations, stacked along a new first axis, oldest first.

    A new episode begins with its first observation in every place.

    Raises:
      ValueError: num_frames is not a positive integer.
    """

    env: Environment
    num_frames: int = 4

    def __post_init__(self) -> None:
        object.__setattr__(self, "num_frames", checks.positive_integer("num_frames", self.num_frames))

    def observation_space(self, params: PyTree) -> spaces.Space:
        return self.batch_space(self.single_observation_space(params).batch(self.num_frames))

    def init_state(self, draws: PyTree, params: PyTree, /) -> FrameStackState:
        env_state = super().init_state(draws, params)
        return FrameStackState(env_state, self.over_batch(self._filled)(self._observed(env_state, params)))

    def advance(self, state: FrameStackState, action: PyTree, draws: PyTree, params: PyTree) -> Outcome:
        outcome = self.env.advance(state.env_state, action, draws, params)
        frames = self.over_batch(_push)(state.frames, self._observed(outcome.state, params))
        return outcome._replace(state=FrameStackState(outcome.state, frames))

    def restart(self, key: jax.Array, done: jax.Array, state: FrameStackState, params: PyTree) -> FrameStackState:
        env_state = self.env.restart(key, done, state.env_state, params)
        obs = self._observed(env_state, params)
        # Where the episode goes on, `obs` is the newest frame already. Writing it again lets XLA delete the observation
        # that `advance` made, unless final_obs is read: a stack of pictures is 1.8 times faster.
        return FrameStackState(env_state, self.over_batch(_restacked)(done, state.frames, obs))

    def observe(self, state: FrameStackState, params: PyTree) -> PyTree:
        return state.frames

    def _observed(self, env_state: PyTree, params: PyTree) -> PyTree:
        return trees.narrow(self.env.observe(env_state, params))

    def _filled(self, obs: PyTree) -> PyTree:
        return jax.tree.map(lambda x: jnp.broadcast_to(x, (self.num_frames, *x.shape)), obs)


def _push(frames: PyTree, obs: PyTree) -> PyTree:
    return jax.tree.map(lambda old, new: jnp.concatenate([old[1:], new[None]]), frames, obs)


def _restacked(done: jax.Array, frames: PyTree, obs: PyTree) -> PyTree:
    """Frames that end with `obs`, and where the episode is `done`, show nothing else."""
    return jax.tree.map(
        lambda old, new: jnp.concatenate([jnp.where(done, new[None], old[:-1]), new[None]]), frames, obs
    )
