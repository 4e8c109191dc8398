"""SimpleBandit-bsuite, after bsuite 0.3.6 `environments/bandit.py`."""

from __future__ import annotations

import dataclasses
from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from envcore import checks, spaces
from envcore.environment import EnvParams, EnvState
from envcore.typing import ArrayParam, Float
from flax import struct

from envcore_bsuite import sums
from envcore_bsuite.base import BsuiteEnvironment

OPTIMAL_RETURN = 1.0


@struct.dataclass
class SimpleBanditState(EnvState):
    """State of `SimpleBandit`.

    Attributes:
      total_regret: regret over all episodes.
      excess: amount by which rounding has made `total_regret` too large.
    """

    total_regret: Float
    excess: Float


@struct.dataclass
class SimpleBanditParams(EnvParams):
    """Params of `SimpleBandit`.

    Attributes:
      rewards: reward of each arm.
    """

    rewards: Annotated[ArrayParam, "float32 (num_actions,)"]


@dataclasses.dataclass(frozen=True)
class SimpleBandit(BsuiteEnvironment[SimpleBanditState, SimpleBanditParams]):
    """SimpleBandit-bsuite: find the best of eleven arms.

    Original: bsuite 0.3.6 `environments/bandit.py`, Osband et al. (2020), "Behaviour suite for reinforcement learning".

    The arms' rewards are spaced evenly from 0 to 1, in an order that `mapping_seed` determines.

    Observation: float32 (1, 1), always 1.
    Action: the arm.
    Reward: the reward of the arm.
    Termination: every step ends the episode.

    bsuite's `total_regret` is the sum of 1 - reward over all episodes since `reset`. It is a field of the state that is
    kept over auto-resets, and an entry of `info`.

    Deviations: `mapping_seed` is a number, 0 by default. bsuite's None, which draws a new order for each constructed
    environment, is not supported. gymnax draws a new order at every reset, so nothing can be learned.

    Attributes:
      mapping_seed: seed for the order of rewards, which is the order that bsuite draws with
        `numpy.random.RandomState`. It sets the default params.
      num_actions: number of arms, at least 2.

    Raises:
      ValueError: an option is out of range.
    """

    lifetime: ClassVar[tuple[str, ...]] = ("total_regret", "excess")
    settings: ClassVar[tuple[str, ...]] = ("mapping_seed",)
    render_fps: ClassVar[float] = 2

    mapping_seed: int = 0
    num_actions: int = 11

    def __post_init__(self) -> None:
        if checks.positive_integer("num_actions", self.num_actions, at_most=2**24) < 2:
            raise ValueError(f"a bandit needs at least 2 arms, got num_actions={self.num_actions}")
        check_mapping_seed(self.mapping_seed)

    @property
    def default_params(self) -> SimpleBanditParams:
        order = np.random.RandomState(self.mapping_seed).choice(self.num_actions, self.num_actions, replace=False)
        return SimpleBanditParams(rewards=np.linspace(0, 1, self.num_actions)[order])

    def action_space(self, params: SimpleBanditParams) -> spaces.Discrete:
        return spaces.Discrete(self.num_actions)

    def observation_space(self, params: SimpleBanditParams) -> spaces.Box:
        return spaces.Box(1.0, 1.0, (1, 1))

    def state_space(self, params: SimpleBanditParams) -> spaces.Dict:
        regret = spaces.Box(-np.inf, np.inf, ())  # negative if an arm pays more than 1
        return spaces.Dict({"total_regret": regret, "excess": regret, "time": spaces.NATURAL_NUMBERS})

    def init_state(self, draws: jax.Array, params: SimpleBanditParams) -> SimpleBanditState:
        return SimpleBanditState(total_regret=jnp.float32(0), excess=jnp.float32(0))

    def transition(
        self, state: SimpleBanditState, action: jax.Array, draws: jax.Array, params: SimpleBanditParams
    ) -> tuple[SimpleBanditState, jax.Array, bool, dict[str, jax.Array]]:
        reward = params.rewards[action]
        total_regret, excess = sums.add(state.total_regret, state.excess, OPTIMAL_RETURN - reward)
        state = state.replace(total_regret=total_regret, excess=excess)
        return state, reward, True, self.counters(state, params)

    def observe(self, state: SimpleBanditState, params: SimpleBanditParams) -> jax.Array:
        return jnp.ones((1, 1), jnp.float32)

    def counters(self, state: SimpleBanditState, params: SimpleBanditParams) -> dict[str, jax.Array]:
        return {"total_regret": state.total_regret}

    def render(self, state: SimpleBanditState, params: SimpleBanditParams, height: int = 256) -> jax.Array:
        from envcore_bsuite.render.bandits import paint_bandit

        return paint_bandit(height, state.total_regret, params.rewards)


def check_mapping_seed(seed: object) -> None:
    """Raises ValueError unless `numpy.random.RandomState` accepts the seed."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**32:
        raise ValueError(f"mapping_seed must be an integer from 0 to 2**32 - 1, got {seed!r}")
