"""GaussianBandit-misc, after gymnax 1.0.1 `misc/gaussian_bandit.py`."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, require, spaces
from envcore.environment import Environment, EnvParams, EnvState
from envcore.typing import BoolParam, Float, FloatParam, Int, IntParam
from flax import struct

from envcore_misc.clock import observed_time, time_bounds

NUM_ARMS = 2


@struct.dataclass
class GaussianBanditState(EnvState):
    """State of `GaussianBandit`.

    Attributes:
      last_action: the last arm, 0 at the start.
      last_reward: the last reward, 0 at the start.
      mu: mean reward of the risky arm. This is the task.
    """

    last_action: Int
    last_reward: Float
    mu: Float


@struct.dataclass
class GaussianBanditParams(EnvParams):
    """Params of `GaussianBandit`.

    Attributes:
      mean_mu: mean of mu.
      sigma_p: standard deviation of mu between episodes.
      sigma_l: standard deviation of the risky arm's rewards within an episode.
      normalize_time: whether to scale the observed time to [-1, 1].
    """

    mean_mu: FloatParam = -1.0
    sigma_p: FloatParam = 1.0
    sigma_l: FloatParam = 0.1
    normalize_time: BoolParam = True
    max_steps_in_episode: IntParam = 100


@dataclasses.dataclass(frozen=True)
class GaussianBandit(Environment[GaussianBanditState, GaussianBanditParams]):
    """GaussianBandit-misc: find out whether a risky arm is better than a safe one, in each episode from scratch.

    Original: Lange & Sprekeler (2022), "Learning not to learn: nature versus nurture in silico". The authors' code
    is unavailable. The rules are those of gymnax 1.0.1's `misc/gaussian_bandit.py`, by the first author.

    The safe arm always gives 0. The rewards of the risky arm are normal with mean `mu` and standard deviation
    `sigma_l`. Each episode draws `mu`, normal with mean `mean_mu` and standard deviation `sigma_p`. Whether it is worth
    learning `mu` depends on both standard deviations, and on the episode length. With `sigma_p` of 0 the task is
    `mean_mu`, and you can `vmap` over it to evaluate given tasks.

    Observation: float32 (4,).
      0: the last reward, 0 before the first step
      1: 1 if the last arm was the safe one, or before the first step, else 0
      2: 1 if the last arm was the risky one, else 0
      3: time, from -1 to 1 over an episode, or the number of steps so far without `normalize_time`
    Action: int32 ().
      0: the safe arm
      1: the risky arm
    Reward: the reward of the chosen arm.
    Termination: never.
    Truncation: after 100 steps.

    Deviations: gymnax divides the time by 100 for any time limit, and declares bounds that negative rewards and times
    exceed. Here the time is divided by `max_steps_in_episode`, and rewards have no bounds.
    """

    action_names = ("safe", "risky")
    render_fps = 4

    @property
    def default_params(self) -> GaussianBanditParams:
        return GaussianBanditParams()

    def check_params(self, params: GaussianBanditParams) -> None:
        require.nonnegative(params, "sigma_p", "sigma_l")
        require.moderate(params, "mean_mu", "sigma_p", "sigma_l")

    def action_space(self, params: GaussianBanditParams) -> spaces.Discrete:
        return spaces.Discrete(NUM_ARMS)

    def observation_space(self, params: GaussianBanditParams) -> spaces.Box:
        early, late = time_bounds(params)
        return spaces.Box([-np.inf, 0.0, 0.0, early], [np.inf, 1.0, 1.0, late])

    def state_space(self, params: GaussianBanditParams) -> spaces.Dict:
        return spaces.Dict(
            {
                "last_action": self.action_space(params),
                "last_reward": spaces.Box(-np.inf, np.inf),
                "mu": spaces.Box(-np.inf, np.inf),
                "time": spaces.NATURAL_NUMBERS,
            }
        )

    def draw_start(self, key: jax.Array, params: GaussianBanditParams) -> Float:
        """Draws the deviation of the arm's mean, standard normal."""
        return random.normal(key)

    def init_state(self, draws: Float, params: GaussianBanditParams) -> GaussianBanditState:
        mu = jnp.asarray(params.mean_mu + params.sigma_p * draws)
        return GaussianBanditState(last_action=jnp.int32(0), last_reward=jnp.float32(0), mu=mu)

    def draw(self, key: jax.Array, params: GaussianBanditParams) -> Float:
        """Draws the noise of the reward, standard normal."""
        return random.normal(key)

    def transition(
        self, state: GaussianBanditState, action: jax.Array, draws: Float, params: GaussianBanditParams
    ) -> tuple[GaussianBanditState, jax.Array, bool]:
        reward = jnp.where(action == 0, 0.0, state.mu + params.sigma_l * draws)
        return state.replace(last_action=action, last_reward=reward), reward, False

    def observe(self, state: GaussianBanditState, params: GaussianBanditParams) -> jax.Array:
        arms = [(state.last_action == arm).astype(jnp.float32) for arm in range(NUM_ARMS)]
        return jnp.stack([state.last_reward, *arms, observed_time(state.time, params)])

    def render(self, state: GaussianBanditState, params: GaussianBanditParams, height: int = 256) -> jax.Array:
        from envcore_misc.render import paint_gaussian_bandit

        numbers = state.time, state.last_action, state.last_reward, state.mu
        task = params.mean_mu, params.sigma_p, params.sigma_l
        return paint_gaussian_bandit(height, *numbers, *task, params.max_steps_in_episode)
