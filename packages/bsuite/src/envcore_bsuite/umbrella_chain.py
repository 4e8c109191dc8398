"""UmbrellaChain-bsuite, after bsuite 0.3.6 `environments/umbrella_chain.py`."""

from __future__ import annotations

import dataclasses
from typing import Annotated, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import checks, random, require, spaces
from envcore.environment import EnvParams, EnvState, next_time
from envcore.typing import Int, IntParam
from flax import struct

from envcore_bsuite.base import BsuiteEnvironment, share_left
from envcore_bsuite.bits import bit, keep, num_words, unpack


@struct.dataclass
class UmbrellaChainState(EnvState):
    """State of `UmbrellaChain`.

    Attributes:
      need_umbrella: 0 or 1.
      has_umbrella: 0 or 1.
      distractors: the random bits that are shown, 32 to a word, lowest first.
      total_regret: regret over all episodes.
    """

    need_umbrella: Int
    has_umbrella: Int
    distractors: Annotated[jax.Array, "uint32 (words,)"]
    total_regret: Int


@struct.dataclass
class UmbrellaChainParams(EnvParams):
    """Params of `UmbrellaChain`.

    Attributes:
      chain_length: number of steps in an episode, at least 1.
    """

    chain_length: IntParam = 10


class UmbrellaChainDraws(NamedTuple):
    """Draws of a step.

    Attributes:
      reward_bit: 0 or 1, decides the sign of a reward before the end.
      distractors: as in the state.
    """

    reward_bit: Int
    distractors: Annotated[jax.Array, "uint32 (words,)"]


class UmbrellaChainStart(NamedTuple):
    """Draws of the start of an episode, as in the state.

    Attributes:
      need_umbrella: 0 or 1.
      has_umbrella: 0 or 1.
      distractors: as in the state.
    """

    need_umbrella: Int
    has_umbrella: Int
    distractors: Annotated[jax.Array, "uint32 (words,)"]


@dataclasses.dataclass(frozen=True)
class UmbrellaChain(BsuiteEnvironment[UmbrellaChainState, UmbrellaChainParams]):
    """UmbrellaChain-bsuite: take an umbrella at the start if it will rain at the end.

    Original: bsuite 0.3.6 `environments/umbrella_chain.py`, Osband et al. (2020), "Behaviour suite for reinforcement
    learning".

    The first action decides whether to take the umbrella. Later actions have no effect. The last reward shows whether
    the decision was right. All rewards before are noise.

    Observation: float32 (1, n + 3), where n is `n_distractor`.
      0: 1 if an umbrella is needed, else 0
      1: 1 if there is an umbrella, else 0, random before the first action
      2: 1 minus the fraction of the chain that has passed
      3 to n + 2: random bits, new at each step
    Action: int32 ().
      0: leave the umbrella
      1: take the umbrella
    Reward: 1 for the right and -1 for the wrong choice at the end. Before the end, 1 or -1 at random.
    Termination: after `chain_length` steps.

    bsuite's `total_regret` adds 2 for each wrong choice since `reset`. It is a field of the state that is kept over
    auto-resets, and an entry of `info`.

    Deviations: none.

    Attributes:
      n_distractor: number of random bits in an observation.
      chain_length: number of steps in an episode, at least 1. It sets the default params.

    Raises:
      ValueError: an option is out of range.
    """

    lifetime: ClassVar[tuple[str, ...]] = ("total_regret",)
    settings: ClassVar[tuple[str, ...]] = ("chain_length",)
    action_names: ClassVar[tuple[str, ...]] = ("leave", "take")
    render_fps: ClassVar[float] = 4

    n_distractor: int = 0
    chain_length: int = 10

    def __post_init__(self) -> None:
        checks.positive_integer("chain_length", self.chain_length)
        if self.n_distractor != 0:
            checks.positive_integer("n_distractor", self.n_distractor, at_most=2**24)

    @property
    def default_params(self) -> UmbrellaChainParams:
        return UmbrellaChainParams(chain_length=self.chain_length)

    def check_params(self, params: UmbrellaChainParams) -> None:
        require.positive(params, "chain_length")

    def action_space(self, params: UmbrellaChainParams) -> spaces.Discrete:
        return spaces.Discrete(2)

    def observation_space(self, params: UmbrellaChainParams) -> spaces.Box:
        return spaces.Box(0.0, 1.0, (1, 3 + self.n_distractor))

    def state_space(self, params: UmbrellaChainParams) -> spaces.Dict:
        umbrellas = dict.fromkeys(("need_umbrella", "has_umbrella"), spaces.Discrete(2))
        words = spaces.Tree(jax.ShapeDtypeStruct((num_words(self.n_distractor),), np.uint32))
        counts = dict.fromkeys(("total_regret", "time"), spaces.NATURAL_NUMBERS)
        return spaces.Dict({**umbrellas, "distractors": words, **counts})

    def draw_start(self, key: jax.Array, params: UmbrellaChainParams) -> UmbrellaChainStart:
        words = self._words(key)
        return UmbrellaChainStart(
            need_umbrella=bit(words, self.n_distractor),
            has_umbrella=bit(words, self.n_distractor + 1),
            distractors=keep(words, self.n_distractor),
        )

    def init_state(self, draws: UmbrellaChainStart, params: UmbrellaChainParams) -> UmbrellaChainState:
        return UmbrellaChainState(**draws._asdict(), total_regret=jnp.int32(0))

    def draw(self, key: jax.Array, params: UmbrellaChainParams) -> UmbrellaChainDraws:
        words = self._words(key)
        return UmbrellaChainDraws(bit(words, self.n_distractor), keep(words, self.n_distractor))

    def transition(
        self, state: UmbrellaChainState, action: jax.Array, draws: UmbrellaChainDraws, params: UmbrellaChainParams
    ) -> tuple[UmbrellaChainState, jax.Array, jax.Array, dict[str, jax.Array]]:
        has_umbrella = jnp.where(state.time == 0, action, state.has_umbrella)
        is_last = next_time(state.time) >= params.chain_length
        is_right = has_umbrella == state.need_umbrella
        reward = jnp.where(jnp.where(is_last, is_right, draws.reward_bit == 1), 1.0, -1.0)
        total_regret = state.total_regret + 2 * (is_last & ~is_right).astype(jnp.int32)
        state = state.replace(has_umbrella=has_umbrella, distractors=draws.distractors, total_regret=total_regret)
        return state, reward, is_last, self.counters(state, params)

    def observe(self, state: UmbrellaChainState, params: UmbrellaChainParams) -> jax.Array:
        left = share_left(jnp.minimum(state.time, params.chain_length), params.chain_length)
        umbrellas = [state.need_umbrella.astype(jnp.float32), state.has_umbrella.astype(jnp.float32)]
        distractors = unpack(state.distractors, self.n_distractor).astype(jnp.float32)
        return jnp.concatenate([jnp.stack([*umbrellas, left]), distractors])[None]

    def counters(self, state: UmbrellaChainState, params: UmbrellaChainParams) -> dict[str, jax.Array]:
        return {"total_regret": state.total_regret.astype(jnp.float32)}

    def render(self, state: UmbrellaChainState, params: UmbrellaChainParams, height: int = 256) -> jax.Array:
        from envcore_bsuite.render.chains import paint_umbrella_chain

        seen = state.need_umbrella, state.has_umbrella, state.distractors
        return paint_umbrella_chain(height, state.time, *seen, params.chain_length, n_distractor=self.n_distractor)

    def _words(self, key: jax.Array) -> jax.Array:
        """Draws random words for the distractors and two more bits."""
        return random.bits(key, (num_words(self.n_distractor + 2),))
