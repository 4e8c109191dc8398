"""DiscountingChain-bsuite, after bsuite 0.3.6 `environments/discounting_chain.py`."""

from __future__ import annotations

import dataclasses
from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from envcore import require, spaces
from envcore.environment import EnvParams, EnvState, next_time
from envcore.typing import ArrayParam, Int, IntParam
from flax import struct

from envcore_bsuite.bandit import check_mapping_seed
from envcore_bsuite.base import BsuiteEnvironment

_REWARD_TIMESTEPS = (1, 3, 10, 30, 100)
_BONUS = 0.1


@struct.dataclass
class DiscountingChainState(EnvState):
    """State of `DiscountingChain`.

    Attributes:
      context: the chosen chain, -1 before the choice.
    """

    context: Int


@struct.dataclass
class DiscountingChainParams(EnvParams):
    """Params of `DiscountingChain`.

    Attributes:
      rewards: reward of each chain.
      reward_timestep: step at which each chain gives its reward, starting at 1.
    """

    rewards: Annotated[ArrayParam, "float32 (5,)"]
    reward_timestep: Annotated[ArrayParam, "int32 (5,)"]
    max_steps_in_episode: IntParam = struct.field(default=100, kw_only=True)


@dataclasses.dataclass(frozen=True)
class DiscountingChain(BsuiteEnvironment[DiscountingChainState, DiscountingChainParams]):
    """DiscountingChain-bsuite: choose the chain whose reward is worth waiting for.

    Original: bsuite 0.3.6 `environments/discounting_chain.py`, Osband et al. (2020), "Behaviour suite for reinforcement
    learning".

    The first action chooses one of five chains. Later actions have no effect. Each chain gives one reward, after 1, 3,
    10, 30 or 100 steps. It is 1, or 1.1 for the chain that `mapping_seed` selects.

    Observation: float32 (1, 2).
      0: the chain, -1 before the choice
      1: time, divided by `max_steps_in_episode`
    Action: int32 (), the chain.
    Reward: the chain's reward at its time, else 0.
    Termination: after 100 steps (`max_steps_in_episode`). The original calls this a termination.

    bsuite logs nothing besides the rewards.

    Deviations: `mapping_seed` is a number, 0 by default. bsuite's None, which draws a chain for each constructed
    environment, is not supported.

    Attributes:
      mapping_seed: this number modulo 5 is the chain with the larger reward. It sets the default params.

    Raises:
      ValueError: `mapping_seed` is not an integer from 0 to 2**32 - 1.
    """

    time_limit_terminates: ClassVar[bool] = True
    settings: ClassVar[tuple[str, ...]] = ("mapping_seed",)
    render_fps: ClassVar[float] = 10

    mapping_seed: int = 0

    def __post_init__(self) -> None:
        check_mapping_seed(self.mapping_seed)

    @property
    def default_params(self) -> DiscountingChainParams:
        chains = len(_REWARD_TIMESTEPS)
        rewards = np.where(np.arange(chains) == self.mapping_seed % chains, 1 + _BONUS, 1.0)
        return DiscountingChainParams(rewards=rewards, reward_timestep=np.array(_REWARD_TIMESTEPS))

    def check_params(self, params: DiscountingChainParams) -> None:
        require.positive(params, "reward_timestep")

    def action_space(self, params: DiscountingChainParams) -> spaces.Discrete:
        return spaces.Discrete(len(_REWARD_TIMESTEPS))

    def observation_space(self, params: DiscountingChainParams) -> spaces.Box:
        # Unbounded, because time continues in steps after the end.
        return spaces.Box(np.array([[-1.0, 0.0]]), np.array([[len(_REWARD_TIMESTEPS) - 1.0, np.inf]]))

    def state_space(self, params: DiscountingChainParams) -> spaces.Dict:
        return spaces.Dict(
            {"context": spaces.Box(-1, len(_REWARD_TIMESTEPS) - 1, (), np.int32), "time": spaces.NATURAL_NUMBERS}
        )

    def init_state(self, draws: jax.Array, params: DiscountingChainParams) -> DiscountingChainState:
        return DiscountingChainState(context=jnp.int32(-1))

    def transition(
        self, state: DiscountingChainState, action: jax.Array, draws: jax.Array, params: DiscountingChainParams
    ) -> tuple[DiscountingChainState, jax.Array, bool]:
        context = jnp.where(state.time == 0, action, state.context)
        pays = (np.arange(len(_REWARD_TIMESTEPS), dtype=np.int32) == context) & (
            params.reward_timestep == next_time(state.time)
        )
        return state.replace(context=context), jnp.where(pays, params.rewards, 0.0).sum(), False

    def observe(self, state: DiscountingChainState, params: DiscountingChainParams) -> jax.Array:
        context = state.context.astype(jnp.float32)
        share = state.time.astype(jnp.float32) / jnp.asarray(params.max_steps_in_episode, jnp.float32)
        return jnp.stack([context, share])[None]

    def counters(self, state: DiscountingChainState, params: DiscountingChainParams) -> dict[str, jax.Array]:
        return {}

    def render(self, state: DiscountingChainState, params: DiscountingChainParams, height: int = 256) -> jax.Array:
        from envcore_bsuite.render.chains import paint_discounting_chain

        return paint_discounting_chain(
            height, state.time, state.context, params.rewards, params.reward_timestep, params.max_steps_in_episode
        )
