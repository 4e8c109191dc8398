"""Catch-bsuite, after bsuite 0.3.6 `environments/catch.py`."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp
from envcore import checks, random, spaces
from envcore.environment import EnvParams, EnvState
from envcore.typing import Int
from flax import struct

from envcore_bsuite import boards
from envcore_bsuite.base import BsuiteEnvironment


@struct.dataclass
class CatchState(EnvState):
    """State of `Catch`.

    Attributes:
      ball_x: column of the ball.
      ball_y: row of the ball, 0 at the top.
      paddle_x: column of the paddle.
      paddle_y: row of the paddle, always the bottom one.
      total_regret: regret over all episodes.
    """

    ball_x: Int
    ball_y: Int
    paddle_x: Int
    paddle_y: Int
    total_regret: Int


@struct.dataclass
class CatchParams(EnvParams):
    """Params of `Catch`, which has no params of its own."""


@dataclasses.dataclass(frozen=True)
class Catch(BsuiteEnvironment[CatchState, CatchParams]):
    """Catch-bsuite: move a paddle along the bottom row to catch a falling ball.

    Original: bsuite 0.3.6 `environments/catch.py`, Osband et al. (2020), "Behaviour suite for reinforcement learning".

    The ball starts in a random column of the top row and falls one row per step. The paddle starts in the middle of the
    bottom row. The paddle moves first, then the ball falls.

    Observation: float32 (rows, columns), 1 for the ball and the paddle, else 0.
    Action: int32 ().
      0: move the paddle left, unless it is at the wall
      1: do not move
      2: move the paddle right, unless it is at the wall
    Reward: 0, and at the end 1 if the paddle catches the ball, else -1.
    Termination: the ball reaches the bottom row, after rows - 1 steps. There is no time limit.

    bsuite's `total_regret` is the sum of 1 - reward over the last steps of all episodes since `reset`. It is a field of
    the state that is kept over auto-resets, and an entry of `info`.

    Deviations: none.

    Attributes:
      rows: height of the board, at least 2.
      columns: width of the board, at least 1.

    Raises:
      ValueError: the board is too small or too large.
    """

    lifetime: ClassVar[tuple[str, ...]] = ("total_regret",)
    action_names: ClassVar[tuple[str, ...]] = ("left", "stay", "right")
    render_fps: ClassVar[float] = 5

    rows: int = 10
    columns: int = 5

    def __post_init__(self) -> None:
        for name in ("rows", "columns"):
            checks.positive_integer(name, getattr(self, name), at_most=4096)
        if self.rows < 2:
            raise ValueError(f"Catch needs at least 2 rows, got {self.rows}")

    @property
    def default_params(self) -> CatchParams:
        return CatchParams()

    def action_space(self, params: CatchParams) -> spaces.Discrete:
        return spaces.Discrete(3)

    def observation_space(self, params: CatchParams) -> spaces.Box:
        return spaces.Box(0.0, 1.0, (self.rows, self.columns))

    def state_space(self, params: CatchParams) -> spaces.Dict:
        column, row = spaces.Discrete(self.columns), spaces.Discrete(self.rows)
        places = {"ball_x": column, "ball_y": row, "paddle_x": column, "paddle_y": row}
        return spaces.Dict({**places, "total_regret": spaces.NATURAL_NUMBERS, "time": spaces.NATURAL_NUMBERS})

    def draw_start(self, key: jax.Array, params: CatchParams) -> Int:
        """Draws the column of the ball."""
        return random.integers(random.bits(key), self.columns)

    def init_state(self, draws: Int, params: CatchParams) -> CatchState:
        paddle = {"paddle_x": jnp.int32(self.columns // 2), "paddle_y": jnp.int32(self.rows - 1)}
        return CatchState(ball_x=draws, ball_y=jnp.int32(0), **paddle, total_regret=jnp.int32(0))

    def transition(
        self, state: CatchState, action: jax.Array, draws: jax.Array, params: CatchParams
    ) -> tuple[CatchState, jax.Array, jax.Array, dict[str, jax.Array]]:
        paddle_x = jnp.clip(state.paddle_x + action - 1, 0, self.columns - 1)
        ball_y = jnp.minimum(state.ball_y + 1, state.paddle_y)  # it stops at the end of the episode
        landed = ball_y == state.paddle_y
        is_caught = paddle_x == state.ball_x
        reward = jnp.where(landed, jnp.where(is_caught, 1.0, -1.0), 0.0)
        total_regret = state.total_regret + 2 * (landed & ~is_caught).astype(jnp.int32)
        state = state.replace(ball_y=ball_y, paddle_x=paddle_x, total_regret=total_regret)
        return state, reward, landed, self.counters(state, params)

    def observe(self, state: CatchState, params: CatchParams) -> jax.Array:
        ball, paddle = (state.ball_y, state.ball_x), (state.paddle_y, state.paddle_x)
        return boards.show([ball, paddle], self.rows, self.columns)

    def counters(self, state: CatchState, params: CatchParams) -> dict[str, jax.Array]:
        return {"total_regret": state.total_regret.astype(jnp.float32)}

    def render(self, state: CatchState, params: CatchParams, height: int = 256) -> jax.Array:
        from envcore_bsuite.render.grids import paint_catch

        return paint_catch(
            height, state.ball_y, state.ball_x, state.paddle_y, state.paddle_x, rows=self.rows, columns=self.columns
        )
