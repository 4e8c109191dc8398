"""`RewardNoise` and `RewardScale`, the wrappers of bsuite's `_noise` and `_scale` experiments.

Original: bsuite 0.3.6 `utils/wrappers.py`, Osband et al. (2020), "Behaviour suite for reinforcement learning". Only the
reward changes. Counters of the environment, such as regret, do not.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, ClassVar, NamedTuple

import jax
import numpy as np
from envcore import random, require
from envcore.environment import Environment, Outcome
from envcore.typing import FloatParam, PyTree
from envcore.wrappers import ParamsWrapper, WrapperParams


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class RewardNoiseParams(WrapperParams):
    """Params of `RewardNoise`.

    Attributes:
      noise_scale: standard deviation of the noise.
    """

    noise_scale: FloatParam


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class RewardScaleParams(WrapperParams):
    """Params of `RewardScale`.

    Attributes:
      reward_scale: the factor.
    """

    reward_scale: FloatParam


class RewardNoiseDraws(NamedTuple):
    """Draws of a step of `RewardNoise`.

    Attributes:
      env_draws: draws of the wrapped environment.
      noise: standard normal, before scaling, of the batch shape.
    """

    env_draws: PyTree
    noise: Annotated[jax.Array, "float32 (...)"]


@dataclasses.dataclass(frozen=True)
class RewardNoise(ParamsWrapper):
    """Adds normal noise to every reward.

    Attributes:
      env: the wrapped environment.
      noise_scale: standard deviation of the noise. It sets the default params.
    """

    settings: ClassVar[tuple[str, ...]] = ("noise_scale",)

    env: Environment
    noise_scale: float = 1.0

    @property
    def default_params(self) -> RewardNoiseParams:
        return RewardNoiseParams(self.env.default_params, float(self.noise_scale))

    def check_params(self, params: RewardNoiseParams) -> None:
        super().check_params(params)
        require.nonnegative(params, "noise_scale")
        require.moderate(params, "noise_scale")

    def draw(self, key: jax.Array, params: RewardNoiseParams) -> RewardNoiseDraws:
        key_env, key_noise = random.spawn(key, 2)
        noise = self.draw_batch(lambda shape: random.normal(key_noise, shape))
        return RewardNoiseDraws(super().draw(key_env, params), noise)

    def advance(self, state: PyTree, action: PyTree, draws: RewardNoiseDraws, params: RewardNoiseParams) -> Outcome:
        outcome = super().advance(state, action, draws.env_draws, params)
        return outcome._replace(reward=outcome.reward + params.noise_scale * draws.noise)


@dataclasses.dataclass(frozen=True)
class RewardScale(ParamsWrapper):
    """Multiplies every reward by a constant.

    Attributes:
      env: the wrapped environment.
      reward_scale: the constant. It sets the default params.
    """

    settings: ClassVar[tuple[str, ...]] = ("reward_scale",)

    env: Environment
    reward_scale: float = 1.0

    @property
    def default_params(self) -> RewardScaleParams:
        return RewardScaleParams(self.env.default_params, float(self.reward_scale))

    def check_params(self, params: RewardScaleParams) -> None:
        super().check_params(params)
        require.that(params, ("reward_scale",), np.isfinite, "finite")  # checked here because an option can set it

    def advance(self, state: PyTree, action: PyTree, draws: PyTree, params: RewardScaleParams) -> Outcome:
        outcome = super().advance(state, action, draws, params)
        return outcome._replace(reward=outcome.reward * params.reward_scale)
