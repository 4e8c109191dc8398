"""Breakout-MinAtar, after MinAtar 1.0.15 `environments/breakout.py`."""

from __future__ import annotations

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, spaces
from envcore.fusion import compute_once
from envcore.typing import Bool, Int
from flax import struct
from jax import lax
from jax.typing import ArrayLike

from envcore_minatar import packing
from envcore_minatar.game import FLAG, LEFT, NOTHING, PLACE, RIGHT, Game, MinAtarParams, MinAtarState, move_sideways
from envcore_minatar.packing import FULL_ROW, SIDE, Halves, Word

# By direction: 0 up left, 1 up right, 2 down right, 3 down left. Changes of x and y, plus one, and the new directions.
_DX, _DY = (0, 2, 2, 0), (0, 0, 2, 2)
_OFF_SIDE = (1, 0, 3, 2)
_OFF_TOP = (3, 2, 1, 0)
_BACK = (2, 3, 0, 1)
_FULL_WALL = np.uint32(2 ** (3 * SIDE) - 1)

_ROW, _COLUMN, _CHANNEL = packing.cells(4)
_PADDLE, _BALL, _TRAIL, _BRICK = range(4)
_CELLS = packing.cell_number(_ROW, _COLUMN, _CHANNEL)
_IS_BRICK = (_CHANNEL == _BRICK) & (_ROW >= 1) & (_ROW <= 3)
_BRICKS = np.where(_IS_BRICK, 1 << (SIDE * (_ROW - 1) + _COLUMN) % 32, 0).astype(np.uint32)  # bits of `bricks`


@struct.dataclass
class BreakoutState(MinAtarState):
    """State of `Breakout`. Rows count from the top, columns from the left, from 0 to 9.

    Attributes:
      ball_y: row of the ball.
      ball_x: column of the ball.
      ball_dir: direction of the ball: 0 up left, 1 up right, 2 down right, 3 down left.
      pos: column of the paddle.
      last_y: row of the ball before the last step.
      last_x: column of the ball before the last step.
      strike: whether the ball broke a brick in the last step, or passed through one.
      bricks: bit 10 * (y - 1) + x is the brick in row y, from 1 to 3, and column x. See also `brick_map`.
    """

    ball_y: Int
    ball_x: Int
    ball_dir: Int
    pos: Int
    last_y: Int
    last_x: Int
    strike: Bool
    bricks: Word

    @property
    def brick_map(self) -> jax.Array:
        """Returns which cells have bricks, bool (10, 10). Only rows 1 to 3 can have them."""
        return packing.to_board(_brick_rows(self.bricks))


def bricks_of(brick_map: ArrayLike) -> jax.Array:
    """Converts boards like `state.brick_map`, of zeros and ones or bools, (..., 10, 10), to `bricks`, uint32 (...)."""
    rows = packing.from_board(brick_map)
    return functools.reduce(lax.bitwise_or, [rows[..., i + 1] << SIDE * i for i in range(3)])


@dataclasses.dataclass(frozen=True)
class Breakout(Game[BreakoutState, tuple[()]]):
    """Breakout-MinAtar: break three rows of bricks with a ball, and keep it off the bottom with a paddle.

    Original: MinAtar 1.0.15 `environments/breakout.py` run through its `Environment`, Young & Tian (2019), "MinAtar: an
      Atari-inspired testbed for thorough and reproducible reinforcement learning experiments".

    The ball moves diagonally, one cell per step. It bounces off the walls and off bricks, which break. A ball that
    broke a brick passes through bricks until it has moved through a free cell. After all bricks are broken, three new
    rows appear when the ball next reaches the bottom row. If the paddle is in the ball's old column, the ball bounces
    back up. If it is in the new column, the ball returns the way it came. Otherwise the ball is lost.

    With probability `sticky_action_prob` a step repeats the last executed action instead of the given one.

    Observation: bool (10, 10, 4), rows, columns and channels.
      0: the paddle
      1: the ball
      2: the previous position of the ball
      3: bricks
    Action: int32 (). The full set has six actions: nothing, left, up, right, down, fire. Only left and right matter.
      0: nothing, 1: left, 2: right
    Reward: 1 for breaking a brick.
    Termination: the ball is lost. A step after that changes nothing. There is no time limit.

    Deviations: none. As in the original, the last executed action is kept over a reset.
    """

    minimal_actions = (NOTHING, LEFT, RIGHT)
    channels = ("paddle", "ball", "trail", "brick")

    def draw_start(self, key: jax.Array, params: MinAtarParams) -> Bool:
        """Draws whether the ball comes from the right."""
        return random.integers(random.bits(key), 2) == 1

    def init_state(self, draws: Bool, params: MinAtarParams) -> BreakoutState:
        x = jnp.where(draws, SIDE - 1, 0)
        return BreakoutState(
            ball_y=jnp.int32(3),
            ball_x=x,
            ball_dir=jnp.where(draws, 3, 2),
            pos=jnp.int32(4),
            last_y=jnp.int32(3),
            last_x=x,
            strike=jnp.bool_(False),
            bricks=jnp.uint32(_FULL_WALL),
        )

    def state_fields(self) -> dict[str, spaces.Space]:
        places = dict.fromkeys(("ball_y", "ball_x", "pos", "last_y", "last_x"), PLACE)
        bricks = spaces.Box(0, _FULL_WALL, (), jnp.uint32)
        return {**places, "ball_dir": spaces.Discrete(4), "strike": FLAG, "bricks": bricks}

    def play(self, state: BreakoutState, action: jax.Array, draws: tuple[()]) -> tuple[BreakoutState, jax.Array]:
        bricks = state.bricks
        pos = move_sideways(state.pos, action)
        x, y, direction = _bounce_off_side_walls(state)

        off_top = y < 0
        cell = SIDE * (y - 1) + x
        on_brick = (y >= 1) & (y <= 3) & packing.has_bit(bricks, cell)
        breaks = on_brick & ~state.strike
        at_bottom = y == SIDE - 1
        bounces_up = at_bottom & (state.ball_x == pos)
        turns_back = at_bottom & (state.ball_x != pos) & (x == pos)
        lost = at_bottom & ~bounces_up & ~turns_back

        direction = jnp.where(off_top | breaks | bounces_up, packing.lookup(_OFF_TOP, direction), direction)
        direction = jnp.where(turns_back, packing.lookup(_BACK, direction), direction)
        bricks = jnp.where(breaks, bricks & ~packing.bit(cell), bricks)
        bricks = jnp.where(at_bottom & (state.bricks == 0), _FULL_WALL, bricks)
        after = state.replace(
            ball_y=jnp.where(off_top, 0, jnp.where(breaks | bounces_up | turns_back, state.ball_y, y)),
            ball_x=x,
            ball_dir=direction,
            pos=pos,
            last_y=state.ball_y,
            last_x=state.ball_x,
            strike=on_brick,
            terminal=lost,
            last_action=action,
            bricks=bricks,
        )
        return after, jnp.where(breaks, 1.0, 0.0)

    def observe(self, state: BreakoutState, params: MinAtarParams) -> jax.Array:
        return packing.expand_once(_expand, *compute_once(_visible, state))

    def paint(self, state: BreakoutState, height: int) -> jax.Array:
        from envcore_minatar.render import paint_breakout

        ball = state.ball_y, state.ball_x, state.ball_dir
        return paint_breakout(height, *ball, state.pos, state.last_y, state.last_x, state.strike, state.brick_map)


def _bounce_off_side_walls(state: BreakoutState) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Returns the ball's new column, row and direction after it has bounced off the side walls."""
    x = state.ball_x + packing.lookup(_DX, state.ball_dir) - 1
    y = state.ball_y + packing.lookup(_DY, state.ball_dir) - 1
    outside = (x < 0) | (x >= SIDE)
    return jnp.clip(x, 0, SIDE - 1), y, jnp.where(outside, packing.lookup(_OFF_SIDE, state.ball_dir), state.ball_dir)


def _brick_rows(bricks: jax.Array) -> jax.Array:
    """Returns the rows of the board, uint32 (..., 10)."""
    none = jnp.zeros_like(bricks)
    rows = [(bricks >> np.uint32(SIDE * i)) & FULL_ROW for i in range(3)]
    return jnp.stack([none, *rows, *[none] * 6], axis=-1)


def _visible(state: BreakoutState) -> tuple[jax.Array, jax.Array, jax.Array, Halves]:
    """Returns the cells of paddle, ball and trail, and the two halves of the bricks."""
    return (
        packing.cell_number(SIDE - 1, state.pos, _PADDLE),
        packing.cell_number(state.ball_y, state.ball_x, _BALL),
        packing.cell_number(state.last_y, state.last_x, _TRAIL),
        packing.halves(state.bricks),
    )


def _expand(paddle: jax.Array, ball: jax.Array, trail: jax.Array, bricks: Halves) -> jax.Array:
    """Returns which cells show something, bool (400,), given what is visible."""
    return (paddle == _CELLS) | (ball == _CELLS) | (trail == _CELLS) | (packing.masked(bricks, _BRICKS) != 0)
