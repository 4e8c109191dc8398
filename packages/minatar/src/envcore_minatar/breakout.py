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
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, spaces
from envcore.environment import Environment, EnvParams, EnvState
from flax import struct

from envcore_minatar.render import draw_grid

_MINIMAL_ACTIONS = np.array([0, 1, 3], np.int32)  # nothing, left, right among the six
_LEFT, _RIGHT = 1, 3
# Directions: 0 up left, 1 up right, 2 down right, 3 down left.
_DX, _DY = np.array([-1, 1, 1, -1], np.int32), np.array([-1, -1, 1, 1], np.int32)
_OFF_SIDE = np.array([1, 0, 3, 2], np.int32)
_OFF_TOP = np.array([3, 2, 1, 0], np.int32)
_BACK = np.array([2, 3, 0, 1], np.int32)
_FULL_WALL = np.zeros((10, 10), bool)
_FULL_WALL[1:4] = True


@struct.dataclass
class BreakoutState(EnvState):
    """State of `Breakout`; every field int32 () unless noted. Rows count from the top, columns from the left."""

    ball_y: Any
    ball_x: Any
    ball_dir: Any  # 0 up left, 1 up right, 2 down right, 3 down left
    pos: Any  # column of the paddle
    brick_map: Any  # bool (10, 10)
    strike: Any  # bool (), the last move broke or passed through a brick
    last_y: Any
    last_x: Any
    terminal: Any  # bool (), the ball is lost
    last_action: Any  # executed last, among the six; survives resets


@struct.dataclass
class BreakoutParams(EnvParams):
    """Params of `Breakout`."""

    sticky_action_prob: Any = 0.1  # float32 ()


@dataclasses.dataclass(frozen=True)
class Breakout(Environment[BreakoutState, BreakoutParams]):
    """Breakout-MinAtar; see the module for its rules.

    Attributes:
      use_minimal_action_set: three actions in place of six.
    """

    use_minimal_action_set: bool = True

    @property
    def default_params(self) -> BreakoutParams:
        return BreakoutParams()

    def action_space(self, params: BreakoutParams | None = None) -> spaces.Discrete:
        return spaces.Discrete(3 if self.use_minimal_action_set else 6)

    def observation_space(self, params: BreakoutParams | None = None) -> spaces.Box:
        return spaces.Box(False, True, (10, 10, 4), jnp.bool_)

    def state_space(self, params: BreakoutParams | None = None) -> spaces.Dict:
        cell, flag = spaces.Discrete(10), spaces.Box(False, True, (), jnp.bool_)
        return spaces.Dict(
            {
                **dict.fromkeys(("ball_y", "ball_x", "pos", "last_y", "last_x"), cell),
                "ball_dir": spaces.Discrete(4),
                "brick_map": spaces.Box(False, True, (10, 10), jnp.bool_),
                "strike": flag,
                "terminal": flag,
                "last_action": spaces.Discrete(6),
                "time": spaces.COUNT,
            }
        )

    def init_state(self, key: jax.Array, params: BreakoutParams) -> BreakoutState:
        return start(random.below(random.bits(key), 2))

    def transition(
        self, key: jax.Array, state: BreakoutState, action: jax.Array, params: BreakoutParams
    ) -> tuple[BreakoutState, jax.Array, jax.Array]:
        if self.use_minimal_action_set:
            action = jnp.asarray(_MINIMAL_ACTIONS)[action]
        sticks = random.uniform(key) < params.sticky_action_prob
        return play(state, jnp.where(sticks, state.last_action, action))

    def observe(self, state: BreakoutState, params: BreakoutParams) -> jax.Array:
        paddle, ball = _cell(9, state.pos), _cell(state.ball_y, state.ball_x)
        return jnp.stack([paddle, ball, _cell(state.last_y, state.last_x), state.brick_map], axis=-1)

    def carry_over(self, fresh: BreakoutState, final: BreakoutState) -> BreakoutState:
        return fresh.replace(last_action=final.last_action)

    def render(self, state: BreakoutState, params: BreakoutParams | None = None, *, height: int = 256) -> jax.Array:
        return draw_grid(self.get_obs(state), height)


# The rules, without randomness.


def start(ball_start: jax.Array) -> BreakoutState:
    """The first state: the ball comes from the left (`ball_start` 0) or from the right (1)."""
    from_right = ball_start == 1
    ball_x = jnp.where(from_right, 9, 0)
    return BreakoutState(
        ball_y=3,
        ball_x=ball_x,
        ball_dir=jnp.where(from_right, 3, 2),
        pos=4,
        brick_map=_FULL_WALL,
        strike=False,
        last_y=3,
        last_x=ball_x,
        terminal=False,
        last_action=0,
    )


def play(state: BreakoutState, action: jax.Array) -> tuple[BreakoutState, jax.Array, jax.Array]:
    """One step with the executed `action` among the six: state, reward and whether the ball is lost."""
    pos = jnp.clip(state.pos + (action == _RIGHT).astype(jnp.int32) - (action == _LEFT).astype(jnp.int32), 0, 9)
    x, y, direction = _off_side_walls(state)
    old_y = state.ball_y

    off_top = y < 0
    on_brick = ~off_top & state.brick_map[jnp.maximum(y, 0), x]
    breaks = on_brick & ~state.strike
    at_bottom = ~off_top & ~on_brick & (y == 9)
    old_above_paddle, new_above_paddle = state.ball_x == pos, x == pos
    lost = at_bottom & ~old_above_paddle & ~new_above_paddle

    bounces_up = at_bottom & old_above_paddle
    direction = jnp.where(off_top | breaks | bounces_up, jnp.asarray(_OFF_TOP)[direction], direction)
    turns_back = at_bottom & ~old_above_paddle & new_above_paddle
    direction = jnp.where(turns_back, jnp.asarray(_BACK)[direction], direction)
    brick_map = state.brick_map & ~(breaks & _cell(y, x))
    brick_map = jnp.where(at_bottom & ~state.brick_map.any(), jnp.asarray(_FULL_WALL), brick_map)
    after = BreakoutState(
        ball_y=jnp.where(off_top, 0, jnp.where(breaks | bounces_up | turns_back, old_y, y)),
        ball_x=x,
        ball_dir=direction,
        pos=pos,
        brick_map=brick_map,
        strike=on_brick,
        last_y=old_y,
        last_x=state.ball_x,
        terminal=lost,
        last_action=action,
        time=state.time,
    )
    frozen = state.replace(last_action=action)
    after = jax.tree.map(lambda x, y: jnp.where(state.terminal, x, y), frozen, after)
    return after, jnp.where(breaks & ~state.terminal, 1.0, 0.0), after.terminal


def _off_side_walls(state: BreakoutState) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Where the ball moves, and its direction, once it has bounced off the side walls."""
    x = state.ball_x + jnp.asarray(_DX)[state.ball_dir]
    y = state.ball_y + jnp.asarray(_DY)[state.ball_dir]
    outside = (x < 0) | (x > 9)
    return jnp.clip(x, 0, 9), y, jnp.where(outside, jnp.asarray(_OFF_SIDE)[state.ball_dir], state.ball_dir)


def _cell(y: Any, x: Any) -> jax.Array:
    rows, columns = np.indices((10, 10), dtype=np.int32)
    return (rows == y) & (columns == x)
