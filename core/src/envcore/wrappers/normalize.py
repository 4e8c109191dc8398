"""`NormalizeObservation` and `NormalizeReward`: normalize by running statistics.

The statistics are params: `reset` starts from those in `params`, and `step` updates them in the state, through every
auto-reset. With `frozen=True` they don't change. You can read them as `observation_statistics` and
`reward_statistics` in params and states, wherever the wrapper is in the stack:

    statistics = state.observation_statistics  # after training: a pytree, save it with the agent

    eval_env = NormalizeObservation(Batched(CartPole(), 64), frozen=True)
    eval_params = eval_env.default_params.replace(observation_statistics=statistics)
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from envcore import spaces, trees
from envcore.devices import AxisName
from envcore.environment import Environment, Outcome
from envcore.errors import InvalidParamsError
from envcore.typing import ArrayParam, PyTree
from envcore.wrappers.base import ParamsWrapper, WrapperParams, WrapperState


@struct.dataclass
class RunningStatistics:
    """Running mean and variance (Chan et al. 1979, parallel algorithm), as in Gymnasium.

    Attributes:
      mean: float32, shape of one value, initially 0.
      var: float32, shape of one value, initially 1.
      count: float32 (), number of values, initially 1e-4, the weight of the prior. From 2**24 on, float32 no longer
        counts single values, so the statistics of a single unbatched environment then forget the oldest ones.
    """

    mean: ArrayParam | np.floating
    var: ArrayParam | np.floating
    count: ArrayParam | np.floating

    @classmethod
    def empty(cls, shape: tuple[int, ...]) -> RunningStatistics:
        """Returns the prior for values of `shape`, as numpy arrays."""
        return cls(np.zeros(shape, np.float32), np.ones(shape, np.float32), np.float32(1e-4))

    def update(self, values: jax.Array, included: jax.Array, axis_name: AxisName | None = None) -> RunningStatistics:
        """Adds the values, shape `(*batch, *shape)`, for which `included`, bool `(*batch,)`, is true.

        With an `axis_name`, inside `jax.shard_map` or `jax.pmap`, adds the values of all devices along that axis.
        """

        def total(each: jax.Array) -> jax.Array:
            here = each.sum(tuple(range(included.ndim)))
            return here if axis_name is None else jax.lax.psum(here, axis_name)

        values = values.astype(jnp.float32)
        weights = included.astype(jnp.float32).reshape(included.shape + (1,) * jnp.ndim(self.mean))
        count = total(included.astype(jnp.float32))
        mean = total(values * weights) / jnp.maximum(count, 1)
        squares = total((values - jnp.broadcast_to(mean, values.shape)) ** 2 * weights)
        weight, delta = self.count + count, mean - self.mean
        all_squares = self.var * self.count + squares + delta**2 * (self.count * count / weight)
        return RunningStatistics(self.mean + delta * (count / weight), all_squares / weight, weight)

    def normalized(self, values: jax.Array, epsilon: float = 1e-8) -> jax.Array:
        """Normalizes values, shape `(*batch, *shape)`, to mean 0 and variance 1: float32."""
        values = values.astype(jnp.float32)
        mean, var = (jnp.broadcast_to(each, values.shape) for each in (self.mean, self.var))
        return (values - mean) / jnp.sqrt(var + np.float32(epsilon))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class NormalizeObservationParams(WrapperParams):
    """Params of `NormalizeObservation`.

    Attributes:
      observation_statistics: initial `RunningStatistics` for `reset`.
    """

    observation_statistics: RunningStatistics


@struct.dataclass
class NormalizeObservationState(WrapperState):
    """State of `NormalizeObservation`.

    Attributes:
      observation_statistics: `RunningStatistics` of the observations, kept over auto-resets.
    """

    observation_statistics: RunningStatistics


@dataclasses.dataclass(frozen=True)
class NormalizeObservation(ParamsWrapper):
    """Normalizes each element of observations to mean 0 and variance 1, by running statistics.

    Put it around `Batched` for training: it then pools the observations of the whole batch, on all devices. Inside
    `Batched`, or under `jax.vmap`, every copy has statistics of its own, and the copies are normalized differently.

    `reset` starts from `params.observation_statistics`, which are empty by default. `step` returns updated ones in
    `state.observation_statistics`. To reuse them, pass them on:
    `env.reset(key, params.replace(observation_statistics=state.observation_statistics))`.

    Attributes:
      epsilon: added to the variance.
      frozen: do not update the statistics, for evaluation. You must pass statistics then, because with the default ones
        observations would not change.

    Raises:
      ValueError: observations are not a `Box` of numbers (use `FlattenObservation` inside), or epsilon is not positive.
      InvalidParamsError: `reset` or `step` of a frozen wrapper get params without statistics.
    """

    env: Environment
    epsilon: float = 1e-8
    frozen: bool = False

    def __post_init__(self) -> None:
        space = self.env.observation_space(self.env.default_params)
        if not isinstance(space, spaces.Box) or not self.epsilon > 0:
            needs = "a Box of observations (flatten them first) and a positive epsilon"
            raise ValueError(f"NormalizeObservation needs {needs}, got {space!r} and {self.epsilon!r}")

    @property
    def default_params(self) -> NormalizeObservationParams:
        shape = self.env.observation_space(self.env.default_params).shape[len(self.batch_shape) :]
        return NormalizeObservationParams(self.env.default_params, RunningStatistics.empty(shape))

    def _completed(self, params: PyTree) -> PyTree:
        return _given(params, "observation_statistics") if self.frozen else super()._completed(params)

    def observation_space(self, params: PyTree) -> spaces.Box:
        return spaces.Box(-np.inf, np.inf, super().observation_space(params).shape)

    def init_state(self, draws: PyTree, params: NormalizeObservationParams, /) -> NormalizeObservationState:
        return self._observed(super().init_state(draws, params), params.observation_statistics, params)

    def advance(self, state: NormalizeObservationState, action: PyTree, draws: PyTree, params: PyTree) -> Outcome:
        outcome = super().advance(state.env_state, action, draws, params)
        return outcome._replace(state=self._observed(outcome.state, state.observation_statistics, params))

    def restart(
        self, key: jax.Array, done: jax.Array, state: NormalizeObservationState, params: PyTree
    ) -> NormalizeObservationState:
        env_state = super().restart(key, done, state.env_state, params)
        return self._observed(env_state, state.observation_statistics, params, done)

    def observe(self, state: NormalizeObservationState, params: PyTree) -> jax.Array:
        return state.observation_statistics.normalized(super().observe(state, params), self.epsilon)

    def _observed(
        self, env_state: PyTree, statistics: RunningStatistics, params: PyTree, included: jax.Array | None = None
    ) -> NormalizeObservationState:
        obs = self.env.observe(env_state, self.inner_params(params))
        return NormalizeObservationState(env_state, trees.narrow(_updated(self, statistics, obs, included)))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class NormalizeRewardParams(WrapperParams):
    """Params of `NormalizeReward`.

    Attributes:
      reward_statistics: initial `RunningStatistics` of discounted returns for `reset`.
    """

    reward_statistics: RunningStatistics


@struct.dataclass
class NormalizeRewardState(WrapperState):
    """State of `NormalizeReward`.

    Attributes:
      discounted_return: discounted return of the running episode so far, float32 of the batch shape.
      reward_statistics: `RunningStatistics` of the discounted returns.
    """

    discounted_return: jax.Array
    reward_statistics: RunningStatistics


@dataclasses.dataclass(frozen=True)
class NormalizeReward(ParamsWrapper):
    """Divides rewards by the running standard deviation of the discounted return, without shifting them.

    Around `Batched`, it pools the returns of the whole batch. Inside, every copy has statistics of its own. The return
    restarts with every episode, also after a truncation. (Gymnasium's wrapper continues after a truncation.)

    `reset` starts from `params.reward_statistics`, and `step` returns updated ones in `state.reward_statistics`. Pass
    them on and freeze them as with `NormalizeObservation`.

    Attributes:
      gamma: discount factor of the return, in [0, 1].
      epsilon: added to the variance.
      frozen: do not update the statistics, for evaluation. You must pass statistics then, because with the default ones
        rewards would not change.

    Raises:
      ValueError: gamma is not in [0, 1], or epsilon is not positive.
      InvalidParamsError: `reset` or `step` of a frozen wrapper get params without statistics.
    """

    env: Environment
    gamma: float = 0.99
    epsilon: float = 1e-8
    frozen: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.gamma <= 1 or not self.epsilon > 0:
            needs = "gamma in [0, 1] and a positive epsilon"
            raise ValueError(f"NormalizeReward needs {needs}, got {self.gamma!r} and {self.epsilon!r}")

    @property
    def default_params(self) -> NormalizeRewardParams:
        return NormalizeRewardParams(self.env.default_params, RunningStatistics.empty(()))

    def _completed(self, params: PyTree) -> PyTree:
        return _given(params, "reward_statistics") if self.frozen else super()._completed(params)

    def init_state(self, draws: PyTree, params: NormalizeRewardParams, /) -> NormalizeRewardState:
        env_state, zero = super().init_state(draws, params), jnp.zeros(self.batch_shape, jnp.float32)
        return NormalizeRewardState(env_state, zero, trees.narrow(params.reward_statistics))

    def advance(self, state: NormalizeRewardState, action: PyTree, draws: PyTree, params: PyTree) -> Outcome:
        outcome = super().advance(state.env_state, action, draws, params)
        discounted = state.discounted_return * np.float32(self.gamma) + outcome.reward
        statistics = _updated(self, state.reward_statistics, discounted)
        reward = outcome.reward / jnp.sqrt(statistics.var + np.float32(self.epsilon))
        return outcome._replace(state=NormalizeRewardState(outcome.state, discounted, statistics), reward=reward)

    def restart(
        self, key: jax.Array, done: jax.Array, state: NormalizeRewardState, params: PyTree
    ) -> NormalizeRewardState:
        env_state = super().restart(key, done, state.env_state, params)
        discounted = trees.where(done, jnp.zeros_like(state.discounted_return), state.discounted_return)
        return NormalizeRewardState(env_state, discounted, state.reward_statistics)


def _updated(wrapper: Any, statistics: RunningStatistics, values: PyTree, included: Any = None) -> RunningStatistics:
    """Returns the statistics, updated with the values of the included environments, by default all."""
    if wrapper.frozen:
        return statistics
    everywhere = jnp.ones(wrapper.batch_shape, jnp.bool_)
    return statistics.update(values, everywhere if included is None else included, wrapper.axis_name)


def _given(params: PyTree, name: str) -> PyTree:
    """Raises unless statistics were passed, because frozen default ones would silently change nothing."""
    if not isinstance(params, WrapperParams):
        raise InvalidParamsError(
            f"a frozen wrapper needs params with {name}, got {params and type(params).__name__}: pass "
            f"env.default_params.replace({name}=state.{name}) with the state from training."
        )
    return params
