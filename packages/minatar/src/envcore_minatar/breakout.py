"""Breakout-MinAtar: break three rows of bricks with a ball, and keep it from the bottom with a paddle.

Original: MinAtar 1.0.15 `environments/breakout.py` played through `Environment`, Young & Tian (2019), "MinAtar: an
Atari-inspired testbed for thorough and reproducible reinforcement learning experiments".

The ball moves diagonally, one cell a step. It bounces off the walls and off a brick, which breaks; a ball that broke a
brick passes through bricks until it has moved through a free cell. Once all bricks are broken, three new rows appear
when the ball next reaches the bottom row. A ball whose old column is the paddle's bounces back up; one whose new
column is the paddle's returns the way it came; any other is lost.

With probability `sticky_action_prob` a step executes the action executed last, in place of the one given.

Observation: bool (10, 10, 4), rows and columns of paddle, ball, the ball's last place, bricks.
Action: 0 nothing, 1 left, 2 right. The full set has six: nothing, left, up, right, down, fire; only left and right
  move the paddle.
Reward: 1 for a broken brick.
Termination: the ball is lost. A step after that changes nothing. There is no time limit.

Deviations: none. As in the original, the action executed last survives a reset.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random
from envcore.fusion import compute_once
from flax import struct
from jax import lax

from envcore_minatar.game import LEFT, NOTHING, RIGHT, Game, MinAtarParams, MinAtarState, move_sideways
from envcore_minatar.packing import (
    FULL_ROW,
    SIDE,
    Layout,
    bit,
    cells,
    from_board,
    halves,
    has_bit,
    lookup,
    masked,
    number,
    to_board,
)

# Directions: 0 up left, 1 up right, 2 down right, 3 down left; x and y grow by these, less one.
_DX, _DY = (0, 2, 2, 0), (0, 0, 2, 2)
_OFF_SIDE = (1, 0, 3, 2)
_OFF_TOP = (3, 2, 1, 0)
_BACK = (2, 3, 0, 1)
_FULL_WALL = np.uint32(2 ** (3 * SIDE) - 1)

_ROW, _COLUMN, _CHANNEL = cells(4)
_PADDLE, _BALL, _TRAIL, _BRICK = range(4)
_CELLS = number(_ROW, _COLUMN, _CHANNEL)
_IS_BRICK = (_CHANNEL == _BRICK) & (_ROW >= 1) & (_ROW <= 3)
_BRICKS = np.where(_IS_BRICK, 1 << (SIDE * (_ROW - 1) + _COLUMN) % 32, 0).astype(
    np.uint32
)  # each cell's bit of `bricks`


class BreakoutFields(NamedTuple):
    """What `BreakoutState.packed` holds. Rows count from the top, columns from the left, from 0 to 9."""

    ball_y: Any
    ball_x: Any
    ball_dir: Any  # 0 up left, 1 up right, 2 down right, 3 down left
    pos: Any  # column of the paddle
    last_y: Any
    last_x: Any
    strike: Any  # bool, the last move broke or passed through a brick
    terminal: Any  # bool, the ball is lost
    last_action: Any  # executed last, in the full action set; survives resets


_LAYOUT = Layout(
    BreakoutFields, ball_y=4, ball_x=4, ball_dir=2, pos=4, last_y=4, last_x=4, strike=1, terminal=1, last_action=3
)


@struct.dataclass
class BreakoutState(MinAtarState):
    """State of `Breakout`; the fields of `BreakoutFields` are properties of it."""

    bricks: Any  # uint32 (), bit 10 * (y - 1) + x is the brick in row y, from 1 to 3, and column x

    ball_y = _LAYOUT.property("ball_y")
    ball_x = _LAYOUT.property("ball_x")
    ball_dir = _LAYOUT.property("ball_dir")
    pos = _LAYOUT.property("pos")
    last_y = _LAYOUT.property("last_y")
    last_x = _LAYOUT.property("last_x")
    strike = _LAYOUT.property("strike")
    terminal = _LAYOUT.property("terminal")
    last_action = _LAYOUT.property("last_action")

    @property
    def brick_map(self) -> jax.Array:
        """Where bricks are, bool (10, 10)."""
        return to_board(_brick_rows(self.bricks))


class BreakoutDraws(NamedTuple):
    """A step of Breakout draws nothing."""


@dataclasses.dataclass(frozen=True)
class Breakout(Game[BreakoutState, BreakoutDraws]):
    """Breakout-MinAtar; see the module for its rules."""

    minimal_actions = (NOTHING, LEFT, RIGHT)
    channels = ("paddle", "ball", "trail", "brick")
    layout = _LAYOUT

    def init_state(self, key: jax.Array, params: MinAtarParams) -> BreakoutState:
        return start(random.below(random.bits(key), 2) == 1)

    def draw(self, words: jax.Array) -> BreakoutDraws:
        return BreakoutDraws()

    def play(self, state: BreakoutState, action: jax.Array, draws: BreakoutDraws) -> tuple[BreakoutState, jax.Array]:
        ball, bricks = _LAYOUT.unpack(state.packed), state.bricks
        pos = move_sideways(ball.pos, action)
        x, y, direction = _off_side_walls(ball)

        off_top = y < 0
        cell = SIDE * (y - 1) + x
        on_brick = (y >= 1) & (y <= 3) & has_bit(bricks, cell)
        breaks = on_brick & ~ball.strike
        at_bottom = y == SIDE - 1
        bounces_up = at_bottom & (ball.ball_x == pos)
        turns_back = at_bottom & (ball.ball_x != pos) & (x == pos)
        lost = at_bottom & ~bounces_up & ~turns_back

        direction = jnp.where(off_top | breaks | bounces_up, lookup(_OFF_TOP, direction), direction)
        direction = jnp.where(turns_back, lookup(_BACK, direction), direction)
        after = BreakoutFields(
            ball_y=jnp.where(off_top, 0, jnp.where(breaks | bounces_up | turns_back, ball.ball_y, y)),
            ball_x=x,
            ball_dir=direction,
            pos=pos,
            last_y=ball.ball_y,
            last_x=ball.ball_x,
            strike=on_brick,
            terminal=lost,
            last_action=action,
        )
        bricks = jnp.where(breaks, bricks & ~bit(cell), bricks)
        bricks = jnp.where(at_bottom & (state.bricks == 0), _FULL_WALL, bricks)
        return state.replace(packed=_LAYOUT.pack(after), bricks=bricks), jnp.where(breaks, 1.0, 0.0)

    def observe(self, state: BreakoutState, params: MinAtarParams) -> jax.Array:
        paddle, ball, trail, bricks = compute_once(_things, state)
        shown = (paddle == _CELLS) | (ball == _CELLS) | (trail == _CELLS) | (masked(bricks, _BRICKS) != 0)
        return shown.reshape(SIDE, SIDE, len(self.channels))


def start(from_right: jax.Array) -> BreakoutState:
    """The first state: the ball comes from the left, or from the right."""
    x = jnp.where(from_right, SIDE - 1, 0)
    ball = BreakoutFields(3, x, jnp.where(from_right, 3, 2), 4, 3, x, False, False, NOTHING)
    return BreakoutState(packed=_LAYOUT.pack(ball), bricks=_FULL_WALL)


def from_original(fields: Mapping[str, Any], last_action: Any = NOTHING) -> BreakoutState:
    """The state that holds the original's fields.

    Args:
      fields: the attributes of the original's `Env`, numbers or arrays by their names; `brick_map` is (10, 10), with
        bricks in rows 1 to 3 only, as in every state that the game can reach.
      last_action: of the original's `Environment`.
    """
    ball = BreakoutFields(**{name: fields[name] for name in BreakoutFields._fields[:-1]}, last_action=last_action)
    rows = from_board(jnp.asarray(fields["brick_map"]))
    bricks = rows[1] | lax.shift_left(rows[2], np.uint32(SIDE)) | lax.shift_left(rows[3], np.uint32(2 * SIDE))
    return BreakoutState(packed=_LAYOUT.pack(ball), bricks=bricks)


def to_original(state: BreakoutState) -> dict[str, jax.Array]:
    """The original's fields of a state, by their names; the inverse of `from_original`."""
    ball = _LAYOUT.unpack(state.packed)._asdict()
    del ball["last_action"]
    return {**ball, "brick_map": state.brick_map}


def _off_side_walls(ball: BreakoutFields) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Where the ball moves, and its direction, once it has bounced off the side walls."""
    x = ball.ball_x + lookup(_DX, ball.ball_dir) - 1
    y = ball.ball_y + lookup(_DY, ball.ball_dir) - 1
    outside = (x < 0) | (x >= SIDE)
    return jnp.clip(x, 0, SIDE - 1), y, jnp.where(outside, lookup(_OFF_SIDE, ball.ball_dir), ball.ball_dir)


def _brick_rows(bricks: jax.Array) -> jax.Array:
    """The rows of the board, uint32 (10,)."""
    shifts = np.array([32, 0, SIDE, 2 * SIDE, *[32] * 6], np.uint32)  # a shift by all 32 bits leaves none
    return lax.shift_right_logical(jnp.broadcast_to(bricks, (SIDE,)), shifts) & FULL_ROW


def _things(state: BreakoutState) -> tuple[Any, ...]:
    """The cells of paddle, ball and trail, and the bricks' halves."""
    ball = _LAYOUT.unpack(state.packed)
    return (
        number(SIDE - 1, ball.pos, _PADDLE),
        number(ball.ball_y, ball.ball_x, _BALL),
        number(ball.last_y, ball.last_x, _TRAIL),
        halves(state.bricks),
    )
