"""MemoryChain-bsuite, after bsuite 0.3.6 `environments/memory_chain.py`."""

from __future__ import annotations

import dataclasses
from typing import Annotated, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, require, spaces
from envcore.environment import EnvParams, EnvState
from envcore.typing import Int, IntParam
from flax import struct

from envcore_bsuite.base import BsuiteEnvironment, share_left
from envcore_bsuite.bits import num_words, unpack


@struct.dataclass
class MemoryChainState(EnvState):
    """State of `MemoryChain`.

    Attributes:
      context: the bits, 0 or 1 each.
      query: index of the bit that will be asked for.
      total_perfect: number of right answers in all episodes.
      total_regret: regret over all episodes.
    """

    context: Annotated[jax.Array, "int32 (num_bits,)"]
    query: Int
    total_perfect: Int
    total_regret: Int


@struct.dataclass
class MemoryChainParams(EnvParams):
    """Params of `MemoryChain`.

    Attributes:
      memory_length: number of steps to remember the bits, at least 1.
    """

    memory_length: IntParam = 5


class MemoryChainStart(NamedTuple):
    """Draws of the start of an episode, as in the state.

    Attributes:
      context: the bits, 0 or 1 each.
      query: index of the bit that will be asked for.
    """

    context: Annotated[jax.Array, "int32 (num_bits,)"]
    query: Int


@dataclasses.dataclass(frozen=True)
class MemoryChain(BsuiteEnvironment[MemoryChainState, MemoryChainParams]):
    """MemoryChain-bsuite: repeat a bit that was shown at the beginning.

    Original: bsuite 0.3.6 `environments/memory_chain.py`, Osband et al. (2020), "Behaviour suite for reinforcement
    learning".

    An episode begins by showing its context, random bits. Near the end it asks for one of them, and the next action is
    the answer. All actions before have no effect.

    Observation: float32 (1, n + 2), where n is `num_bits`.
      0: 1 minus the fraction of `memory_length` that has passed
      1: index of the bit that is asked for, in the last observation before the answer, else 0
      2 to n + 1: the context, -1 or 1 for each bit, at the start, else 0
    Action: int32 (), the bit, 0 or 1.
    Reward: 1 for the right answer, -1 for the wrong one, and 0 before.
    Termination: after the answer, which is step `memory_length` + 1.

    As in the original, a step returns the observation of the state before it, so the context appears twice: at the
    reset and after the first step.

    bsuite's `total_perfect` counts right answers, and `total_regret` adds 2 for each wrong one, since `reset`. They are
    fields of the state that are kept over auto-resets, and entries of `info`.

    Deviations: none.

    Attributes:
      num_bits: number of bits in the context, from 1 to 65,536.
      memory_length: number of steps to remember them, at least 1. It sets the default params.

    Raises:
      ValueError: an option is out of range.
    """

    lifetime: ClassVar[tuple[str, ...]] = ("total_perfect", "total_regret")
    settings: ClassVar[tuple[str, ...]] = ("memory_length",)
    render_fps: ClassVar[float] = 4

    num_bits: int = 1
    memory_length: int = 5

    def __post_init__(self) -> None:
        if not 1 <= self.num_bits <= 2**16 or self.memory_length < 1:
            raise ValueError(
                "MemoryChain needs num_bits from 1 to 65536 and memory_length of at least 1, "
                f"got {self.num_bits} and {self.memory_length}"
            )

    @property
    def default_params(self) -> MemoryChainParams:
        return MemoryChainParams(memory_length=self.memory_length)

    def check_params(self, params: MemoryChainParams) -> None:
        require.positive(params, "memory_length")

    def action_space(self, params: MemoryChainParams) -> spaces.Discrete:
        return spaces.Discrete(2)

    def observation_space(self, params: MemoryChainParams) -> spaces.Box:
        low, high = [0.0, 0.0, *[-1.0] * self.num_bits], [1.0, self.num_bits - 1.0, *[1.0] * self.num_bits]
        return spaces.Box(np.array([low]), np.array([high]))

    def state_space(self, params: MemoryChainParams) -> spaces.Dict:
        task = {"context": spaces.Box(0, 1, (self.num_bits,), np.int32), "query": spaces.Discrete(self.num_bits)}
        counts = dict.fromkeys(("total_perfect", "total_regret", "time"), spaces.NATURAL_NUMBERS)
        return spaces.Dict({**task, **counts})

    def draw_start(self, key: jax.Array, params: MemoryChainParams) -> MemoryChainStart:
        asks = self.num_bits > 1
        words = random.bits(key, (num_words(self.num_bits) + asks,))
        context = unpack(words, self.num_bits).astype(jnp.int32)
        return MemoryChainStart(context, random.integers(words[-1], self.num_bits) if asks else jnp.int32(0))

    def init_state(self, draws: MemoryChainStart, params: MemoryChainParams) -> MemoryChainState:
        return MemoryChainState(*draws, total_perfect=jnp.int32(0), total_regret=jnp.int32(0))

    def transition(
        self, state: MemoryChainState, action: jax.Array, draws: jax.Array, params: MemoryChainParams
    ) -> tuple[MemoryChainState, jax.Array, jax.Array, dict[str, jax.Array]]:
        answers = state.time >= params.memory_length
        asked = np.arange(self.num_bits, dtype=np.int32) == state.query
        is_right = action == jnp.where(asked, state.context, 0).sum(dtype=jnp.int32)
        reward = jnp.where(answers, jnp.where(is_right, 1.0, -1.0), 0.0)
        state = state.replace(
            total_perfect=state.total_perfect + (answers & is_right).astype(jnp.int32),
            total_regret=state.total_regret + 2 * (answers & ~is_right).astype(jnp.int32),
        )
        return state, reward, answers, self.counters(state, params)

    def observe(self, state: MemoryChainState, params: MemoryChainParams) -> jax.Array:
        shown = jnp.clip(state.time - 1, 0, params.memory_length)  # a step shows the time before it
        query = jnp.where(shown == params.memory_length - 1, state.query, 0).astype(jnp.float32)
        context = jnp.where(shown == 0, (2 * state.context - 1).astype(jnp.float32), 0.0)
        return jnp.concatenate([jnp.stack([share_left(shown, params.memory_length), query]), context])[None]

    def counters(self, state: MemoryChainState, params: MemoryChainParams) -> dict[str, jax.Array]:
        return {"total_perfect": state.total_perfect, "total_regret": state.total_regret.astype(jnp.float32)}

    def render(self, state: MemoryChainState, params: MemoryChainParams, height: int = 256) -> jax.Array:
        from envcore_bsuite.render.chains import paint_memory_chain

        return paint_memory_chain(height, state.time, state.context, state.query, params.memory_length)
