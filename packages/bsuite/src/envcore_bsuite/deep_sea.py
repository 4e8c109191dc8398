"""DeepSea-bsuite and DeepSeaStochastic-bsuite, after bsuite 0.3.6 `environments/deep_sea.py`."""

from __future__ import annotations

import dataclasses
from typing import Annotated, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import checks, random, require, spaces
from envcore.environment import EnvParams, EnvState
from envcore.typing import ArrayParam, Bool, Float, FloatParam, Int
from flax import struct

from envcore_bsuite import boards
from envcore_bsuite.bandit import check_mapping_seed
from envcore_bsuite.base import BsuiteEnvironment


@struct.dataclass
class DeepSeaState(EnvState):
    """State of `DeepSea`.

    Attributes:
      column: column of the diver, 0 at the left.
      bad_episode: whether the diver has left the diagonal to the left.
      total_bad_episodes: number of such episodes.
      denoised_return: number of treasures in all episodes.
    """

    column: Int
    bad_episode: Bool
    total_bad_episodes: Int
    denoised_return: Int

    @property
    def row(self) -> Int:
        """The row, int32 (), 0 at the top, and `size` after the episode is over."""
        return self.time


@struct.dataclass
class DeepSeaParams(EnvParams):
    """Params of `DeepSea`.

    Attributes:
      action_mapping: which action is "right", by row and column.
      unscaled_move_cost: cost of going right `size` times.
    """

    action_mapping: Annotated[ArrayParam, "int32 (size, size)"]
    unscaled_move_cost: FloatParam = 0.01


class DeepSeaDraws(NamedTuple):
    """Draws of a step of the stochastic version.

    Attributes:
      noise: standard normal.
      wind: uniform on [0, 1). The diver moves to the right only if it is above 1 / size.
    """

    noise: Float
    wind: Float


@dataclasses.dataclass(frozen=True)
class DeepSea(BsuiteEnvironment[DeepSeaState, DeepSeaParams]):
    """DeepSea-bsuite and DeepSeaStochastic-bsuite: dive to the bottom right corner, at a cost for each step right.

    Original: bsuite 0.3.6 `environments/deep_sea.py`, Osband et al. (2020), "Behaviour suite for reinforcement
    learning", and Osband et al. (2017), "Deep exploration via randomized value functions".

    A diver starts in the top left cell of a square and sinks one row per step. "Right" moves it one column to the
    right, "left" one column to the left, and walls stop it. Which of the two actions is "right" differs from cell to
    cell, and is determined by `mapping_seed`. Only a diver that always goes right finds the treasure.

    Observation: float32 (size, size), 1 in the diver's cell, else 0. At the end of an episode all are 0.
    Action: 0 or 1. "Right" is the value in the cell's `action_mapping`.
    Reward: 1 for "right" in the last column, minus `unscaled_move_cost` / size for every "right".
    Termination: after `size` steps.

    In the stochastic version, "right" leaves the column unchanged with probability 1 / size, at the same cost, and a
    step from either end of the bottom row adds standard normal noise to the reward.

    bsuite's `total_bad_episodes` counts the episodes that left the diagonal to the left, and `denoised_return` the
    treasures, since `reset`. They are fields of the state that are kept over auto-resets, and entries of `info`.

    Deviations: `mapping_seed` is a number, 0 by default. bsuite's None, which draws a new mapping for each constructed
    environment, is not supported. The wind is drawn with 23 random bits instead of 53.

    Attributes:
      size: number of rows and columns, at least 1.
      deterministic: no wind and no noise.
      randomize_actions: if False, 1 is "right" in every cell.
      mapping_seed: seed for `action_mapping`, which is the mapping that bsuite draws with `numpy.random.RandomState`.
        It sets the default params.

    Raises:
      ValueError: an option is out of range.
    """

    lifetime: ClassVar[tuple[str, ...]] = ("total_bad_episodes", "denoised_return")
    settings: ClassVar[tuple[str, ...]] = ("mapping_seed", "randomize_actions")
    render_fps: ClassVar[float] = 5

    size: int = 8
    deterministic: bool = True
    randomize_actions: bool = True
    mapping_seed: int = 0

    def __post_init__(self) -> None:
        checks.positive_integer("size", self.size, at_most=4096)
        check_mapping_seed(self.mapping_seed)

    @property
    def default_params(self) -> DeepSeaParams:
        shape = (self.size, self.size)
        if not self.randomize_actions:
            return DeepSeaParams(action_mapping=np.ones(shape, np.int32))
        return DeepSeaParams(action_mapping=np.random.RandomState(self.mapping_seed).binomial(1, 0.5, shape))

    def check_params(self, params: DeepSeaParams) -> None:
        require.that(params, ("action_mapping",), lambda mapping: (mapping == 0) | (mapping == 1), "0 or 1 everywhere")

    def action_space(self, params: DeepSeaParams) -> spaces.Discrete:
        return spaces.Discrete(2)

    def observation_space(self, params: DeepSeaParams) -> spaces.Box:
        return spaces.Box(0.0, 1.0, (self.size, self.size))

    def state_space(self, params: DeepSeaParams) -> spaces.Dict:
        place = {"column": spaces.Discrete(self.size), "bad_episode": spaces.Box(False, True, (), np.bool_)}
        counts = dict.fromkeys(("total_bad_episodes", "denoised_return", "time"), spaces.NATURAL_NUMBERS)
        return spaces.Dict({**place, **counts})

    def init_state(self, draws: jax.Array, params: DeepSeaParams) -> DeepSeaState:
        zero = jnp.int32(0)
        return DeepSeaState(zero, bad_episode=jnp.bool_(False), total_bad_episodes=zero, denoised_return=zero)

    def draw(self, key: jax.Array, params: DeepSeaParams) -> DeepSeaDraws | None:
        if self.deterministic:
            return None
        words = random.bits(key, (2,))
        return DeepSeaDraws(noise=random.normals(words[0]), wind=random.unit(words[1]))

    def transition(
        self, state: DeepSeaState, action: jax.Array, draws: DeepSeaDraws | None, params: DeepSeaParams
    ) -> tuple[DeepSeaState, jax.Array, jax.Array, dict[str, jax.Array]]:
        last = self.size - 1
        row, column = state.row, state.column
        is_right = action == jnp.asarray(params.action_mapping).at[row, column].get(mode="clip")
        has_treasure = is_right & (column == last)
        reward = jnp.where(has_treasure, 1.0, 0.0) - jnp.where(is_right, params.unscaled_move_cost / self.size, 0.0)
        to_the_right = 1
        if draws is not None:
            is_noisy = (row == last) & ((column == 0) | (column == last))
            reward = reward + jnp.where(is_noisy, draws.noise, 0.0)
            to_the_right = (draws.wind > 1 / self.size).astype(jnp.int32)
        bad_episode = state.bad_episode | (~is_right & (row == column))
        state = state.replace(
            column=jnp.clip(column + jnp.where(is_right, to_the_right, -1), 0, last),
            bad_episode=bad_episode,
            total_bad_episodes=state.total_bad_episodes + (bad_episode & (row == last)).astype(jnp.int32),
            denoised_return=state.denoised_return + has_treasure.astype(jnp.int32),
        )
        return state, reward, row >= last, self.counters(state, params)

    def observe(self, state: DeepSeaState, params: DeepSeaParams) -> jax.Array:
        return boards.show([(state.row, state.column)], self.size, self.size)

    def counters(self, state: DeepSeaState, params: DeepSeaParams) -> dict[str, jax.Array]:
        return {
            "total_bad_episodes": state.total_bad_episodes,
            "denoised_return": state.denoised_return.astype(jnp.float32),
        }

    def render(self, state: DeepSeaState, params: DeepSeaParams, height: int = 256) -> jax.Array:
        from envcore_bsuite.render.grids import paint_deep_sea

        return paint_deep_sea(height, state.row, state.column, state.bad_episode, size=self.size)
