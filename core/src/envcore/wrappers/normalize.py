"""`NormalizeObservation` and `NormalizeReward`: running statistics over everything seen so far.

Around `Batched`, one set of statistics covers the whole batch; inside it, every copy keeps its own.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from envcore import spaces, trees
from envcore.environment import Environment, Outcome
from envcore.wrappers.base import Wrapper, WrapperState


@struct.dataclass
class RunningStatistics:
    """Mean and variance of all values so far (Chan et al. 1979, parallel algorithm), as Gymnasium keeps them.

    Attributes:
      mean: float32, shape of one value; starts at 0.
      var: likewise; starts at 1.
      count: float32 (), number of values; starts at 1e-4, the weight of that prior. From 2**24 on, float32 no longer
        counts single values: the statistics of one unbatched environment then forget the oldest ones.
    """

    mean: Any
    var: Any
    count: Any

    @classmethod
    def empty(cls, shape: tuple[int, ...]) -> RunningStatistics:
        """The prior, for values of `shape`."""
        return cls(jnp.zeros(shape, jnp.float32), jnp.ones(shape, jnp.float32), jnp.float32(1e-4))

    def update(self, values: jax.Array, included: jax.Array) -> RunningStatistics:
        """Takes in the values, shape (*batch, *shape), whose entry in `included`, bool (*batch,), is true."""
        axes = tuple(range(included.ndim))
        values = values.astype(jnp.float32)
        weights = included.astype(jnp.float32).reshape(included.shape + (1,) * self.mean.ndim)
        count = included.sum(dtype=jnp.float32)
        mean = (values * weights).sum(axes) / jnp.maximum(count, 1)
        squares = ((values - jnp.broadcast_to(mean, values.shape)) ** 2 * weights).sum(axes)
        total = self.count + count
        delta = mean - self.mean
        squares = self.var * self.count + squares + delta**2 * (self.count * count / total)
        return RunningStatistics(self.mean + delta * (count / total), squares / total, total)


@struct.dataclass
class NormalizeObservationState(WrapperState):
    """State of `NormalizeObservation`.

    Attributes:
      statistics: `RunningStatistics` of the observations, which an auto-reset leaves as they are.
    """

    statistics: Any


@dataclasses.dataclass(frozen=True)
class NormalizeObservation(Wrapper):
    """Shifts and scales every element of the observation to mean 0 and variance 1, by what was observed so far.

    Attributes:
      epsilon: added to the variance.

    Raises:
      ValueError: observations are no `Box` of numbers; use `FlattenObservation` inside.
    """

    env: Environment[Any, Any]
    epsilon: float = 1e-8

    def __post_init__(self) -> None:
        super().__post_init__()
        space = self.env.observation_space()
        if not isinstance(space, spaces.Box):
            raise ValueError(f"NormalizeObservation needs a Box of observations, got {space!r}: flatten them first")

    def observation_space(self, params: Any = None) -> spaces.Box:
        return spaces.Box(-np.inf, np.inf, self.env.observation_space(params).shape)

    def start(self, key: jax.Array, params: Any) -> NormalizeObservationState:
        env_state = self.env.start(key, params)
        obs = self.env.observe(env_state, params)
        empty = RunningStatistics.empty(np.shape(obs)[len(self.batch_shape) :])
        return NormalizeObservationState(env_state, empty.update(obs, jnp.ones(self.batch_shape, jnp.bool_)))

    def advance(self, key: jax.Array, state: NormalizeObservationState, action: Any, params: Any) -> Outcome:
        outcome = self.env.advance(key, state.env_state, action, params)
        everywhere = jnp.ones(self.batch_shape, jnp.bool_)
        statistics = state.statistics.update(self.env.observe(outcome.state, params), everywhere)
        return outcome._replace(state=NormalizeObservationState(outcome.state, statistics))

    def restart(
        self, key: jax.Array, done: jax.Array, state: NormalizeObservationState, params: Any
    ) -> NormalizeObservationState:
        env_state = self.env.restart(key, done, state.env_state, params)
        statistics = state.statistics.update(self.env.observe(env_state, params), done)
        return NormalizeObservationState(env_state, statistics)

    def observe(self, state: NormalizeObservationState, params: Any) -> jax.Array:
        obs = self.env.observe(state.env_state, params).astype(jnp.float32)
        mean = jnp.broadcast_to(state.statistics.mean, obs.shape)
        var = jnp.broadcast_to(state.statistics.var, obs.shape)
        return (obs - mean) / jnp.sqrt(var + np.float32(self.epsilon))


@struct.dataclass
class NormalizeRewardState(WrapperState):
    """State of `NormalizeReward`.

    Attributes:
      discounted_return: of the running episode so far, float32 of the batch shape.
      statistics: `RunningStatistics` of the discounted returns.
    """

    discounted_return: Any
    statistics: Any


@dataclasses.dataclass(frozen=True)
class NormalizeReward(Wrapper):
    """Divides rewards by the standard deviation of the discounted return so far; they are not shifted.

    Attributes:
      gamma: discount factor of the return, in [0, 1].
      epsilon: added to the variance.

    The return starts anew with every episode, also after a truncation (Gymnasium's wrapper goes on after one).

    Raises:
      ValueError: gamma is outside [0, 1].
    """

    env: Environment[Any, Any]
    gamma: float = 0.99
    epsilon: float = 1e-8

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.gamma <= 1:
            raise ValueError(f"gamma must be in [0, 1], got {self.gamma!r}")

    def start(self, key: jax.Array, params: Any) -> NormalizeRewardState:
        return NormalizeRewardState(
            self.env.start(key, params), jnp.zeros(self.batch_shape, jnp.float32), RunningStatistics.empty(())
        )

    def advance(self, key: jax.Array, state: NormalizeRewardState, action: Any, params: Any) -> Outcome:
        outcome = self.env.advance(key, state.env_state, action, params)
        discounted = state.discounted_return * np.float32(self.gamma) + outcome.reward
        statistics = state.statistics.update(discounted, jnp.ones(self.batch_shape, jnp.bool_))
        reward = outcome.reward / jnp.sqrt(statistics.var + np.float32(self.epsilon))
        return outcome._replace(state=NormalizeRewardState(outcome.state, discounted, statistics), reward=reward)

    def restart(
        self, key: jax.Array, done: jax.Array, state: NormalizeRewardState, params: Any
    ) -> NormalizeRewardState:
        env_state = self.env.restart(key, done, state.env_state, params)
        discounted = trees.where(done, jnp.zeros_like(state.discounted_return), state.discounted_return)
        return NormalizeRewardState(env_state, discounted, state.statistics)

    def observe(self, state: NormalizeRewardState, params: Any) -> Any:
        return self.env.observe(state.env_state, params)
