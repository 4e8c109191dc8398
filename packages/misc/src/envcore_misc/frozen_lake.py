"""FrozenLake-misc, after Gymnasium 1.4 `toy_text/frozen_lake.py`."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, spaces
from envcore.environment import Environment, EnvParams, EnvState
from envcore.typing import Int, IntParam
from flax import struct

MAPS = {
    "4x4": ("SFFF", "FHFH", "FFFH", "HFFG"),
    "8x8": (
        "SFFFFFFF",
        "FFFFFFFF",
        "FFFHFFFF",
        "FFFFFHFF",
        "FFFHFFFF",
        "FHHFFFHF",
        "FHFFHFHF",
        "FFFHFFFG",
    ),
}
"""Gymnasium's maps, by name."""

_MOVES = np.array([(0, -1), (1, 0), (0, 1), (-1, 0)])  # rows and columns of left, down, right, up


@struct.dataclass
class FrozenLakeState(EnvState):
    """State of `FrozenLake`.

    Attributes:
      position: row * columns + column.
    """

    position: Int


@struct.dataclass
class FrozenLakeParams(EnvParams):
    """Params of `FrozenLake`."""

    max_steps_in_episode: IntParam = 100


@dataclasses.dataclass(frozen=True)
class FrozenLake(Environment[FrozenLakeState, FrozenLakeParams]):
    """FrozenLake-misc: cross a slippery frozen lake from the start to the goal without falling into a hole.

    Original: Gymnasium 1.4 `toy_text/frozen_lake.py` (FrozenLake-v1, and FrozenLake8x8-v1 with `map_name="8x8"`),
      Brockman et al. (2016), "OpenAI Gym".

    The lake is a grid of S (start), F (frozen), H (hole) and G (goal). An episode starts on a random start tile. On
    slippery ice, a move goes in the chosen direction with probability `success_rate`, else to either side of it with
    equal probability. A move off the grid does nothing.

    Observation: int32 (), row * columns + column.
    Action: int32 ().
      0: left, 1: down, 2: right, 3: up
    Reward: `reward_schedule` for stepping onto the goal, into a hole, or onto any other tile.
    Termination: on the goal or in a hole. A step from there changes nothing and gives reward 0.
    Truncation: after 100 steps, or 200 on the map "8x8".

    Deviations: probabilities are float32.

    Attributes:
      desc: the lake, one string per row. None for the map `map_name`.
      map_name: "4x4" or "8x8".
      is_slippery: whether moves can slip to a side.
      success_rate: probability that a move on slippery ice goes in the chosen direction.
      reward_schedule: rewards for goal, hole and any other tile.

    Raises:
      ValueError: `map_name` is unknown, `desc` is not a rectangle of S, F, H and G with an S, `success_rate` is not a
        probability, or `reward_schedule` is not three finite numbers.
    """

    action_names = ("left", "down", "right", "up")
    render_fps = 4

    desc: tuple[str, ...] | None = None
    map_name: str = "4x4"
    is_slippery: bool = True
    success_rate: float = 1 / 3
    reward_schedule: tuple[float, float, float] = (1.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if self.desc is None and self.map_name not in MAPS:
            raise ValueError(f"map_name must be one of {', '.join(MAPS)}, got {self.map_name!r}")
        lake = self.lake
        if len({len(row) for row in lake}) != 1 or set("".join(lake)) - set("SFHG") or "S" not in "".join(lake):
            raise ValueError(f"desc must be rows of equal length of S, F, H and G with at least one S, got {lake!r}")
        if not 0 <= self.success_rate <= 1:
            raise ValueError(f"success_rate must be in [0, 1], got {self.success_rate!r}")
        if np.shape(self.reward_schedule) != (3,) or not np.abs(self.reward_schedule).max() < 2.0**127:
            raise ValueError(f"reward_schedule must be three finite numbers, got {self.reward_schedule!r}")
        object.__setattr__(self, "reward_schedule", tuple(map(float, self.reward_schedule)))

    @property
    def lake(self) -> tuple[str, ...]:
        """The tiles, one string per row."""
        return MAPS[self.map_name] if self.desc is None else self.desc

    @property
    def default_params(self) -> FrozenLakeParams:
        is_large = self.desc is None and self.map_name == "8x8"
        return FrozenLakeParams(max_steps_in_episode=200 if is_large else 100)

    def action_space(self, params: FrozenLakeParams) -> spaces.Discrete:
        return spaces.Discrete(4)

    def observation_space(self, params: FrozenLakeParams) -> spaces.Discrete:
        return spaces.Discrete(self._tiles.size)

    def state_space(self, params: FrozenLakeParams) -> spaces.Dict:
        return spaces.Dict({"position": self.observation_space(params), "time": spaces.NATURAL_NUMBERS})

    def draw_start(self, key: jax.Array, params: FrozenLakeParams) -> Int:
        """Draws the initial position if the map has several starts."""
        starts = np.flatnonzero(self._tiles == "S").astype(np.int32)
        if len(starts) == 1:
            return jnp.int32(starts[0])
        return jnp.asarray(starts)[random.integers(random.bits(key), len(starts))]

    def init_state(self, draws: Int, params: FrozenLakeParams) -> FrozenLakeState:
        return FrozenLakeState(position=draws)

    def draw(self, key: jax.Array, params: FrozenLakeParams) -> Int | None:
        """Draws the change of direction, -1, 0 or 1, for slips to either side. None if the ice is not slippery."""
        return self.slip(random.uniform(key)) if self.is_slippery else None

    def slip(self, chance: jax.Array) -> Int:
        """Returns the change of direction for a number uniform on [0, 1)."""
        slip_prob = np.float32((1 - self.success_rate) / 2)
        return (chance >= slip_prob).astype(jnp.int32) + (chance >= 1 - slip_prob).astype(jnp.int32) - 1

    def transition(
        self, state: FrozenLakeState, action: jax.Array, draws: Int | None, params: FrozenLakeParams
    ) -> tuple[FrozenLakeState, jax.Array, jax.Array]:
        direction = action if draws is None else (action + draws) % 4
        is_over = jnp.asarray(np.isin(self._tiles, ("G", "H")))
        position = jnp.asarray(self._destinations())[state.position, direction]
        reward = jnp.where(is_over[state.position], 0.0, jnp.asarray(self._rewards())[position])
        return state.replace(position=position), reward, is_over[position]

    def observe(self, state: FrozenLakeState, params: FrozenLakeParams) -> jax.Array:
        return state.position

    def render(self, state: FrozenLakeState, params: FrozenLakeParams, height: int = 256) -> jax.Array:
        from envcore_misc.render import paint_frozen_lake

        return paint_frozen_lake(height, state.position, lake=self.lake)

    @property
    def _tiles(self) -> np.ndarray:
        return np.array(list("".join(self.lake)))

    def _destinations(self) -> np.ndarray:
        """Returns the result of each move from each tile: int32 (tiles, 4)."""
        rows, columns = len(self.lake), len(self.lake[0])
        here = np.stack(np.divmod(np.arange(rows * columns), columns), axis=-1)
        there = np.clip(here[:, None] + _MOVES, 0, (rows - 1, columns - 1))
        stays = np.isin(self._tiles, ("G", "H"))[:, None]
        return np.where(stays, np.arange(rows * columns)[:, None], there @ (columns, 1)).astype(np.int32)

    def _rewards(self) -> np.ndarray:
        """Returns the reward for stepping onto each tile: float32 (tiles,)."""
        goal, hole, other = self.reward_schedule
        return np.select([self._tiles == "G", self._tiles == "H"], [goal, hole], other).astype(np.float32)
