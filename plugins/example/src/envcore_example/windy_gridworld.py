"""WindyGridworld-v0, after Sutton & Barto (2018), second edition, example 6.5 and exercises 6.9 and 6.10."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, require, spaces
from envcore.environment import Environment, EnvParams, EnvState, computed
from envcore.typing import ArrayParam, FloatParam, Int, IntParam
from flax import struct

_MOVES = np.array([(-1, 0), (0, 1), (1, 0), (0, -1), (-1, 1), (1, 1), (1, -1), (-1, -1)], np.int32)
_NAMES = ("up", "right", "down", "left", "up-right", "down-right", "down-left", "up-left")


@struct.dataclass
class WindyGridworldState(EnvState):
    """State of `WindyGridworld`.

    Attributes:
      position: row and column of the agent.
    """

    position: Annotated[jax.Array, "int32 (2,)"]


@struct.dataclass
class WindyGridworldParams(EnvParams):
    """Params of `WindyGridworld`.

    Attributes:
      start: row and column of the start.
      goal: row and column of the goal.
      gust_probability: probability that the wind is one cell stronger, and that it is one cell weaker, at most 1/2.
        Exercise 6.10 uses 1/3.
    """

    start: Annotated[ArrayParam, "int32 (2,)"] = struct.field(default_factory=lambda: np.array([3, 0]))
    goal: Annotated[ArrayParam, "int32 (2,)"] = struct.field(default_factory=lambda: np.array([3, 7]))
    gust_probability: FloatParam = 0.0
    max_steps_in_episode: IntParam = 500


@dataclasses.dataclass(frozen=True)
class WindyGridworld(Environment[WindyGridworldState, WindyGridworldParams]):
    """WindyGridworld-v0: walk across a grid to the goal while a wind blows you upwards.

    Original: Sutton & Barto (2018), "Reinforcement Learning: An Introduction", second edition, example 6.5 (the grid
    and its wind), exercise 6.9 (king's moves) and exercise 6.10 (the wind with gusts).

    A step is the move plus the wind of the column where it starts, in cells upwards. The agent stops at the edge of the
    grid. In a windy column, the wind is one cell stronger with probability `gust_probability`, and one cell weaker with
    the same probability.

    Observation: int32 (2,).
      0: row of the agent, 0 at the top
      1: column of the agent
    Action: int32 ().
      0: up, 1: right, 2: down, 3: left
      With `king_moves` also 4 up-right, 5 down-right, 6 down-left, 7 up-left.
    Reward: -1 on every step, including the last one.
    Termination: the agent is on the goal.
    Truncation: after 500 steps.

    Deviations: the book has no time limit.

    Attributes:
      rows: number of rows of the grid.
      wind: wind of each column from left to right, in cells upwards. Its length is the number of columns.
      king_moves: use eight moves instead of four (exercise 6.9).

    Raises:
      ValueError: `rows` or `wind` are not integers.
    """

    rows: int = 7
    wind: tuple[int, ...] = (0, 0, 0, 1, 1, 1, 2, 2, 1, 0)
    king_moves: bool = False

    def __post_init__(self) -> None:
        numbers = (self.rows, *self.wind)
        if not all(isinstance(number, int | np.integer) for number in numbers):
            raise ValueError(f"rows and wind must be integers, got {self.rows!r} and {self.wind!r}")

    @property
    def default_params(self) -> WindyGridworldParams:
        return WindyGridworldParams()

    action_names = computed(lambda self: _NAMES if self.king_moves else _NAMES[:4])

    def check_params(self, params: WindyGridworldParams) -> None:
        require.between(params, 0, 1 / 2, "gust_probability")
        size = self.rows, len(self.wind)
        for name in ("start", "goal"):
            require.that(params, (name,), lambda cell: (cell >= 0) & (cell < size), "a row and a column of the grid")

    def action_space(self, params: WindyGridworldParams) -> spaces.Discrete:
        return spaces.Discrete(8 if self.king_moves else 4)

    def observation_space(self, params: WindyGridworldParams) -> spaces.MultiDiscrete:
        return spaces.MultiDiscrete((self.rows, len(self.wind)))

    def state_space(self, params: WindyGridworldParams) -> spaces.Dict:
        return spaces.Dict({"position": self.observation_space(params), "time": spaces.NATURAL_NUMBERS})

    def init_state(self, draws: jax.Array, params: WindyGridworldParams) -> WindyGridworldState:
        return WindyGridworldState(position=jnp.asarray(params.start))

    def draw(self, key: jax.Array, params: WindyGridworldParams) -> Int:
        """Draws the gust, -1, 0 or 1, which is added to the wind of a windy column."""
        chance = random.uniform(key)
        is_stronger, is_weaker = chance < params.gust_probability, chance >= 1 - params.gust_probability
        return is_stronger.astype(jnp.int32) - is_weaker.astype(jnp.int32)

    def transition(
        self, state: WindyGridworldState, action: jax.Array, draws: Int, params: WindyGridworldParams
    ) -> tuple[WindyGridworldState, float, jax.Array]:
        wind = jnp.asarray(self.wind, jnp.int32)[state.position[1]]
        lift = jnp.where(wind == 0, 0, wind + draws)
        position = state.position + jnp.asarray(_MOVES)[action] - jnp.stack([lift, jnp.zeros_like(lift)])
        position = jnp.clip(position, 0, jnp.array([self.rows - 1, len(self.wind) - 1], jnp.int32))
        return state.replace(position=position), -1.0, (position == params.goal).all()

    def observe(self, state: WindyGridworldState, params: WindyGridworldParams) -> jax.Array:
        return state.position

    def render(self, state: WindyGridworldState, params: WindyGridworldParams, height: int = 256) -> jax.Array:
        from envcore_example.render import paint_windy_gridworld  # imported late, because only pictures need it

        return paint_windy_gridworld(height, state.position, params.goal, wind=self.wind, rows=self.rows)
