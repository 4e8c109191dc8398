"""Freeway-MinAtar, after MinAtar 1.0.15 `environments/freeway.py`."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, spaces
from envcore.environment import is_time_up, next_time
from envcore.fusion import compute_once
from envcore.typing import Int, IntParam
from flax import struct
from jax import lax
from jax.typing import ArrayLike

from envcore_minatar import packing
from envcore_minatar.game import (
    DOWN,
    NOTHING,
    PLACE,
    UP,
    Game,
    MinAtarDraws,
    MinAtarParams,
    MinAtarState,
    digits,
    up_to,
)
from envcore_minatar.packing import NUM_LANES, ONES, SIDE, Halves, Word

TIME_LIMIT = 2501
"""Number of steps in an episode. The last one ends it."""
_NUM_SPEEDS = 5
_PLAYER_X = 4  # the chicken's column
_BOTTOM = SIDE - 1
_MOVE_PERIOD = 3  # steps between two moves of the chicken

# Masks of a car's lane in `speeds`.
_TO_RIGHT = np.uint32(8)
_SPEED = np.uint32(7)

# A cell shows a car, or the trail of one, if the lane of its row contains its column plus one and its speed.
_ROW, _COLUMN, _CHANNEL = packing.cells(2 + _NUM_SPEEDS)
_CHICKEN, _CAR, _FIRST_SPEED = range(3)
_CELLS = packing.cell_number(_ROW, _COLUMN, _CHANNEL)
_CARS = np.where(_CHANNEL == _CAR, packing.in_lane_of(_ROW, 15), 0)
_TRAILS, _SPEEDS = (np.where(_CHANNEL >= _FIRST_SPEED, packing.in_lane_of(_ROW, mask), 0) for mask in (15, 7))
_COLUMNS = packing.shown_in(_ROW, _COLUMN)
_SPEED_SHOWN = packing.half(packing.in_lane_of(_ROW, np.maximum(_CHANNEL - _FIRST_SPEED + 1, 0)))


@struct.dataclass
class FreewayState(MinAtarState):
    """State of `Freeway`. Rows count from the top, columns from the left, from 0 to 9.

    Attributes:
      pos: row of the chicken.
      move_timer: number of steps until the chicken can move.
      xs: columns of the cars, one lane per car (see `lanes`), with row 1 in lane 0.
      timers: number of steps until each car moves, from 0 to 5, in lanes like `xs`.
      speeds: speeds from 1 to 5, plus 8 for a car that drives to the right, in lanes like `xs`.
    """

    pos: Int
    move_timer: Int
    xs: Word
    timers: Word
    speeds: Word

    @property
    def terminate_timer(self) -> jax.Array:
        """Returns the original's countdown, computed from `time`: int32 (), -1 after 2,501 steps."""
        return jnp.maximum(TIME_LIMIT - 1 - self.time, -1)

    @property
    def cars(self) -> jax.Array:
        """Returns column, row, timer and speed of the cars, int32 (8, 4). Speeds to the left are negative."""
        speeds = packing.unpack_lanes(self.speeds)
        signed = jnp.where(speeds >= 8, speeds - 8, -speeds)
        rows = jnp.broadcast_to(np.arange(1, NUM_LANES + 1, dtype=np.int32), signed.shape)
        return jnp.stack([packing.unpack_lanes(self.xs), rows, packing.unpack_lanes(self.timers), signed], axis=-1)


def lanes_of(cars: ArrayLike) -> dict[str, jax.Array]:
    """Returns the fields for `state.replace`, given cars like `state.cars`. Car i drives in row i + 1."""
    xs, _, timers, speeds = jnp.moveaxis(jnp.asarray(cars).astype(jnp.int32), -1, 0)
    numbers = {"xs": xs, "timers": timers, "speeds": jnp.abs(speeds) + jnp.where(speeds > 0, 8, 0)}
    return {name: packing.pack_lanes(jnp.moveaxis(number, -1, 0)) for name, number in numbers.items()}


@struct.dataclass
class FreewayParams(MinAtarParams):
    """Params of `Freeway`.

    Attributes:
      max_steps_in_episode: time limit in steps. The step that reaches it ends the game.
    """

    max_steps_in_episode: IntParam = TIME_LIMIT


@dataclasses.dataclass(frozen=True)
class Freeway(Game[FreewayState, Word]):
    """Freeway-MinAtar: bring a chicken across eight lanes of traffic, as often as time allows.

    Original: MinAtar 1.0.15 `environments/freeway.py` run through its `Environment`, Young & Tian (2019), "MinAtar: an
      Atari-inspired testbed for thorough and reproducible reinforcement learning experiments".

    The chicken starts in the bottom row of column 4 and moves up or down, at most every third step. Its first move is
    in step 4. In each of the rows 1 to 8, a car drives left or right and wraps around at the ends of the row. A car of
    speed 1 to 5 waits that many steps between its moves, so a small number is fast. A car that is in the chicken's cell
    before or after the car's own move sends the chicken back to the bottom. At the top, the chicken scores and returns
    to the bottom, and all cars get new speeds and directions, drawn uniformly. They keep their columns and wait before
    they move. A new episode also draws speeds and directions, and all cars start in column 0.

    With probability `sticky_action_prob` a step repeats the last executed action instead of the given one.

    Observation: bool (10, 10, 7), rows, columns and channels.
      0: the chicken
      1: cars
      2: the cells behind cars of speed 1
      3: the cells behind cars of speed 2
      4: the cells behind cars of speed 3
      5: the cells behind cars of speed 4
      6: the cells behind cars of speed 5
    Action: int32 (). The full set has six actions: nothing, left, up, right, down, fire. Only up and down matter.
      0: nothing, 1: up, 2: down
    Reward: 1 for reaching the top row.
    Termination: the time limit, after `max_steps_in_episode` steps. It is 2,501, because the original counts down from
      2,500 and ends the game below 0. The original calls this a termination. A step after that changes nothing.

    Deviations: none. As in the original, the last executed action is kept over a reset. (Once in 2**53 draws, the
    original makes a car without a direction, which it cannot show.)
    """

    time_limit_terminates = True
    minimal_actions = (NOTHING, UP, DOWN)
    channels = ("chicken", "car", "speed1", "speed2", "speed3", "speed4", "speed5")
    num_words = 2

    @property
    def default_params(self) -> FreewayParams:
        return FreewayParams()

    def draw_start(self, key: jax.Array, params: MinAtarParams) -> Word:
        """Draws the speeds of the cars."""
        return self.draw_game(random.bits(key, (self.num_words,)))

    def init_state(self, draws: Word, params: MinAtarParams) -> FreewayState:
        return FreewayState(
            pos=jnp.int32(_BOTTOM),
            move_timer=jnp.int32(_MOVE_PERIOD),
            xs=jnp.uint32(0),
            timers=draws & (_SPEED * ONES),
            speeds=draws,
        )

    def state_fields(self) -> dict[str, spaces.Space]:
        return {
            "pos": PLACE,
            "move_timer": up_to(_MOVE_PERIOD),
            "xs": spaces.Box(0, (SIDE - 1) * ONES, (), jnp.uint32),
            "timers": spaces.Box(0, _NUM_SPEEDS * ONES, (), jnp.uint32),
            "speeds": spaces.Box(ONES, (_TO_RIGHT + _NUM_SPEEDS) * ONES, (), jnp.uint32),
        }

    def draw_game(self, words: jax.Array) -> Word:
        """Draws new speeds of the cars, in case the chicken reaches the top."""
        return compute_once(_new_cars, words)

    def transition(
        self, state: FreewayState, action: jax.Array, draws: MinAtarDraws[Word], params: MinAtarParams
    ) -> tuple[FreewayState, jax.Array, jax.Array]:
        after, reward, _ = super().transition(state, action, draws, params)
        # `play` doesn't get params. Without `terminal`, the game would continue after its end.
        over = after.terminal | is_time_up(next_time(state.time), params.max_steps_in_episode)
        return after.replace(terminal=over), reward, over

    def play(self, state: FreewayState, action: jax.Array, draws: Word) -> tuple[FreewayState, jax.Array]:
        pos, move_timer = _move_chicken(state, action)

        wins = pos == 0
        speeds = jnp.where(wins, draws, state.speeds)
        timers = jnp.where(wins, draws & (_SPEED * ONES), state.timers)
        pos = jnp.where(wins, _BOTTOM, pos)

        moving = packing.not_zero(timers) ^ ONES
        xs = _drive(state.xs, moving, speeds)
        timers = (timers - (moving ^ ONES)) | (speeds & _SPEED * moving)
        # The original checks each car before and after it moves. Even so, only the car in the chicken's row can hit it,
        # because a hit sends the chicken to the bottom row, which has no car.
        hit = (_car_of_row(state.xs, pos) == _PLAYER_X) | (_car_of_row(xs, pos) == _PLAYER_X)

        after = state.replace(
            pos=jnp.where(hit, _BOTTOM, pos),
            move_timer=jnp.maximum(move_timer - 1, 0),
            terminal=False,
            last_action=action,
            xs=xs,
            timers=timers,
            speeds=speeds,
        )
        return after, jnp.where(wins, 1.0, 0.0)

    def observe(self, state: FreewayState, params: MinAtarParams) -> jax.Array:
        return packing.expand_once(_expand, *compute_once(_visible, state))

    def paint(self, state: FreewayState, height: int) -> jax.Array:
        from envcore_minatar.render import paint_freeway

        return paint_freeway(height, state.pos, state.move_timer, state.cars, move_period=_MOVE_PERIOD)


def _new_cars(words: jax.Array) -> jax.Array:
    """Draws speeds and directions. There are ten kinds of cars, and each random word gives four."""
    kinds = [kind for word in words for kind in digits(word, *[2 * _NUM_SPEEDS] * (NUM_LANES // 2))]
    cars = packing.pack_lanes(kinds)
    # Kinds 0 to 4 are speeds 1 to 5 to the left, and 5 to 9 are the same speeds to the right.
    right = lax.shift_right_logical(cars + 3 * ONES, np.uint32(3)) & ONES
    return cars + ONES + 3 * right


def _move_chicken(state: FreewayState, action: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Returns the chicken's row and timer after its move."""
    can_move = state.move_timer == 0
    up, down = can_move & (action == UP), can_move & (action == DOWN)
    pos = jnp.where(up, jnp.maximum(state.pos - 1, 0), state.pos)
    pos = jnp.where(down, jnp.minimum(state.pos + 1, _BOTTOM), pos)
    return pos, jnp.where(up | down, _MOVE_PERIOD, state.move_timer)


def _drive(xs: jax.Array, moving: jax.Array, speeds: jax.Array) -> jax.Array:
    """Moves the cars with a 1 in `moving` by one column, with wraparound, and returns all columns."""
    right = moving & lax.shift_right_logical(speeds, np.uint32(3))
    left = moving & ~right
    off_left = left & ~packing.not_zero(xs)
    xs = xs + right - (left ^ off_left) + 9 * off_left
    # Among 0 to 10, only 10 has bits 8 and 2 set. No sum above carries into the next car's bits.
    off_right = lax.shift_right_logical(xs, np.uint32(3)) & lax.shift_right_logical(xs, np.uint32(1)) & ONES
    return xs - 10 * off_right


def _car_of_row(word: jax.Array, row: jax.Array) -> jax.Array:
    """Returns the number of the car in a row from 1 to 9, int32. 0 for row 9, which has no car."""
    return packing.lane(word, row - 1)


def _visible(state: FreewayState) -> tuple[jax.Array, Halves, Halves, Halves]:
    """Returns the chicken's cell, and halves of three words with a lane per car: columns plus one, trails, speeds."""
    behind = _drive(state.xs, jnp.full_like(state.xs, ONES), state.speeds ^ (_TO_RIGHT * ONES))
    cars, trails = state.xs + ONES, behind + ONES
    return (
        packing.cell_number(state.pos, _PLAYER_X, _CHICKEN),
        packing.halves(cars),
        packing.halves(trails),
        packing.halves(state.speeds),
    )


def _expand(chicken: jax.Array, cars: Halves, trails: Halves, speeds: Halves) -> jax.Array:
    """Returns which cells show something, bool (700,), given what is visible."""
    is_there = (packing.masked(cars, _CARS) | packing.masked(trails, _TRAILS)) == _COLUMNS
    return (chicken == _CELLS) | (is_there & (packing.masked(speeds, _SPEEDS) == _SPEED_SHOWN))
