"""SpaceInvaders-MinAtar, after MinAtar 1.0.15 `environments/space_invaders.py`."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from typing import Annotated, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.fusion import compute_once
from envcore.typing import Int
from flax import struct
from jax import lax
from jax.typing import ArrayLike

from envcore_minatar import packing
from envcore_minatar.game import (
    FIRE,
    LEFT,
    NOTHING,
    PLACE,
    RIGHT,
    Game,
    MinAtarParams,
    MinAtarState,
    move_sideways,
    up_to,
)
from envcore_minatar.packing import FULL_ROW, SIDE, bit, expand_once, to_board

Rows = list[jax.Array]
"""A board: ten rows from the top, uint32 (). Bit x is the cell in column x."""
BOTTOM = SIDE - 1
BOTTOM_MARK = np.uint32(1 << 3 * SIDE)
"""A bit set in the bottom row's word, which the observation uses to show the cannon."""
WAVE = [np.uint32(0b0011111100)] * 4 + [np.uint32(0)] * (SIDE - 4)
"""The rows of a new wave of aliens."""

_COOL_DOWN = 5
_SHOT_INTERVAL = 10
_SLOWEST, _FASTEST = 12, 6


@struct.dataclass
class SpaceInvadersState(MinAtarState):
    """State of `SpaceInvaders`. Rows count from the top, columns from the left, from 0 to 9.

    Attributes:
      pos: column of the cannon.
      shot_timer: number of steps until the cannon can shoot again.
      alien_dir: -1 if aliens move left, 1 if they move right.
      enemy_move_interval: maximum number of steps between two moves of the aliens.
      alien_move_timer: number of steps until the aliens move.
      alien_shot_timer: number of steps until an alien shoots.
      rows: in row y, bit x is an alien in column x, 10 + x the cannon's bullet, 20 + x an alien's, 30 the bottom row.
    """

    pos: Int
    shot_timer: Int
    alien_dir: Int
    enemy_move_interval: Int
    alien_move_timer: Int
    alien_shot_timer: Int
    rows: Annotated[jax.Array, "uint32 (10,)"]

    @property
    def ramp_index(self) -> jax.Array:
        """How many times the aliens have become faster, int32 (): 12 - `enemy_move_interval`."""
        return _SLOWEST - self.enemy_move_interval

    @property
    def alien_map(self) -> jax.Array:
        """Returns the cells with aliens, bool (10, 10)."""
        return to_board(self.rows)

    @property
    def f_bullet_map(self) -> jax.Array:
        """Returns the cells with bullets of the cannon, bool (10, 10)."""
        return to_board(self.rows >> np.uint32(SIDE))

    @property
    def e_bullet_map(self) -> jax.Array:
        """Returns the cells with bullets of aliens, bool (10, 10)."""
        return to_board(self.rows >> np.uint32(2 * SIDE))


class _Events(NamedTuple):
    """The parts of a step that depend on more than one row of the boards, all of shape ().

    Attributes:
      lost: whether a bullet or an alien reaches the cannon, or an alien reaches the bottom.
      turn: whether the aliens turn and move down.
      period: number of steps until they move again, if they move in this one.
      shooter_row: row of the alien that would shoot.
      shooter_column: its column, as a row with one bit set.
      kills: number of aliens shot.
      cleared: whether no alien is left.
    """

    lost: jax.Array
    turn: jax.Array
    period: jax.Array
    shooter_row: jax.Array
    shooter_column: jax.Array
    kills: jax.Array
    cleared: jax.Array


@dataclasses.dataclass(frozen=True)
class SpaceInvaders(Game[SpaceInvadersState, tuple[()]]):
    """SpaceInvaders-MinAtar: shoot a block of aliens that comes down, and dodge them and their bullets.

    Original: MinAtar 1.0.15 `environments/space_invaders.py` run through its `Environment`, Young & Tian (2019),
      "MinAtar: an Atari-inspired testbed for thorough and reproducible reinforcement learning experiments".

    The cannon moves along the bottom row and shoots upwards, at most once in five steps. All aliens move sideways
    together. If one of them is at the edge in their direction, they instead move down a row and turn around. The number
    of steps between their moves is the number of living aliens, but at most `enemy_move_interval`, initially 12. Every
    tenth step, the lowest alien of the occupied column nearest to the cannon shoots downwards. At equal distances it is
    the left column. Bullets move one cell per step. An alien hit by one of the cannon's bullets is removed together
    with the bullet. After all 24 are removed, the next 24 appear at the start position, and with `difficulty_ramping`
    the interval becomes one step shorter, down to 6.

    The order of a step: the cannon moves or shoots, its bullets move, the aliens' bullets move, aliens move, an alien
    shoots, aliens die.

    With probability `sticky_action_prob` a step repeats the last executed action instead of the given one.

    Observation: bool (10, 10, 6), rows, columns and channels.
      0: the cannon, 1: aliens
      2: aliens, if they move left, 3: aliens, if they move right
      4: the cannon's bullets, 5: the aliens' bullets
    Action: int32 (). The full set has six actions: nothing, left, up, right, down, fire. Up and down do nothing.
      0: nothing, 1: left, 2: right, 3: fire
    Reward: 1 for shooting an alien.
    Termination: a bullet or an alien reaches the cannon, or the aliens turn while one of them is in the bottom row. A
      step after that changes nothing. There is no time limit.

    Deviations: none. As in the original, the last executed action is kept over a reset.
    """

    minimal_actions = (NOTHING, LEFT, RIGHT, FIRE)
    channels = ("cannon", "alien", "alien_left", "alien_right", "friendly_bullet", "enemy_bullet")

    def init_state(self, draws: jax.Array, params: MinAtarParams) -> SpaceInvadersState:
        none = np.zeros(SIDE, np.uint32)
        return SpaceInvadersState(
            pos=jnp.int32(5),
            shot_timer=jnp.int32(0),
            alien_dir=jnp.int32(-1),
            enemy_move_interval=jnp.int32(_SLOWEST),
            alien_move_timer=jnp.int32(_SLOWEST),
            alien_shot_timer=jnp.int32(_SHOT_INTERVAL),
            rows=join_boards(WAVE, none, none),
        )

    def state_fields(self) -> dict[str, spaces.Space]:
        return {
            "pos": PLACE,
            "shot_timer": up_to(_COOL_DOWN),
            "alien_dir": up_to(1, least=-1),
            "enemy_move_interval": up_to(_SLOWEST, least=_FASTEST),
            "alien_move_timer": up_to(_SLOWEST),
            "alien_shot_timer": up_to(_SHOT_INTERVAL),
            "rows": spaces.Box(0, 2 * BOTTOM_MARK - np.uint32(1), (SIDE,), jnp.uint32),
        }

    def play(
        self, state: SpaceInvadersState, action: jax.Array, draws: tuple[()]
    ) -> tuple[SpaceInvadersState, jax.Array]:
        events = compute_once(_events, state.replace(time=None), action)  # each additional input would cost time
        pos, fires, marches, shoots = _move_and_shoot(state, action)

        aliens, ours, theirs = bullets_fly(state.rows, pos, fires)
        aliens = aliens_march(aliens, marches, state.alien_dir > 0, events.turn)
        theirs = alien_shoots(theirs, shoots, events.shooter_row, events.shooter_column)
        aliens, ours = aliens_die(aliens, ours)
        aliens = next_wave(aliens, events.cleared)

        faster = events.cleared & (state.enemy_move_interval > _FASTEST) & self.difficulty_ramping
        after = state.replace(
            pos=pos,
            shot_timer=jnp.maximum(jnp.where(fires, _COOL_DOWN, state.shot_timer) - 1, 0),
            alien_dir=jnp.where(events.turn, -state.alien_dir, state.alien_dir),
            enemy_move_interval=state.enemy_move_interval - faster.astype(jnp.int32),
            alien_move_timer=jnp.where(marches, events.period, state.alien_move_timer) - 1,
            alien_shot_timer=jnp.where(shoots, _SHOT_INTERVAL, state.alien_shot_timer) - 1,
            terminal=events.lost,
            last_action=action,
            rows=join_boards(aliens, ours, theirs),
        )
        return after, events.kills.astype(jnp.float32)

    def observe(self, state: SpaceInvadersState, params: MinAtarParams) -> jax.Array:
        # A row's word contains everything that is visible in it, and each cell has a mask, so a cell needs one test.
        column, channel = np.divmod(np.arange(SIDE * len(self.channels), dtype=np.uint32), len(self.channels))

        def shows(name: str, board: int) -> np.ndarray:
            return np.where(channel == self.channels.index(name), 1 << column + SIDE * board, 0).astype(np.uint32)

        cannon_column = np.where(channel == self.channels.index("cannon"), column, SIDE).astype(np.int32)
        right = packing.fill(jnp.asarray(state.alien_dir) > 0)  # all bits or none
        masks = (
            (shows("alien", 0) | shows("friendly_bullet", 1) | shows("enemy_bullet", 2))
            | ((shows("alien_left", 0) & ~right) | (shows("alien_right", 0) & right))
            | jnp.where(cannon_column == state.pos, BOTTOM_MARK, np.uint32(0))
        )
        return expand_once(lambda rows, masks: (rows[:, None] & masks[None]) != 0, state.rows, masks)

    def paint(self, state: SpaceInvadersState, height: int) -> jax.Array:
        from envcore_minatar.render import paint_space_invaders

        return paint_space_invaders(
            height,
            state.pos,
            state.shot_timer,
            state.alien_dir,
            state.enemy_move_interval,
            state.alien_move_timer,
            state.alien_shot_timer,
            state.alien_map,
            state.f_bullet_map,
            state.e_bullet_map,
            cool_down=_COOL_DOWN,
            shot_interval=_SHOT_INTERVAL,
            slowest=_SLOWEST,
        )


def _events(before: SpaceInvadersState, action: jax.Array) -> _Events:
    """Computes the events of a step, once for the whole board instead of for each row."""
    pos, fires, marches, _ = _move_and_shoot(before, action)
    cannon = bit(pos)

    aliens, ours, theirs = bullets_fly(before.rows, pos, fires)
    reached = (theirs[BOTTOM] | aliens[BOTTOM]) & cannon

    period = jnp.minimum(count(aliens), before.enemy_move_interval)
    edge = jnp.where(before.alien_dir > 0, bit(SIDE - 1), bit(0))
    turn = marches & ((packing.union(aliens) & edge) != 0)
    reached = reached | jnp.where(turn, aliens[BOTTOM], np.uint32(0))
    aliens = aliens_march(aliens, marches, before.alien_dir > 0, turn)
    reached = reached | (aliens[BOTTOM] & cannon)

    shooter_row, shooter_column = nearest_alien(aliens, cannon)
    kills = count(list(map(lax.bitwise_and, aliens, ours)))
    left, _ = aliens_die(aliens, ours)
    return _Events(
        lost=reached != 0,
        turn=turn,
        period=period,
        shooter_row=shooter_row,
        shooter_column=shooter_column,
        kills=kills,
        cleared=packing.union(left) == 0,
    )


def _move_and_shoot(before: SpaceInvadersState, action: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Returns the cannon's new column, and whether it shoots, aliens move, and an alien shoots."""
    pos = move_sideways(before.pos, action)
    fires = (action == FIRE) & (before.shot_timer == 0)
    return pos, fires, before.alien_move_timer == 0, before.alien_shot_timer == 0


# The phases of a step on the boards. A board is a list of its rows' words, all of shape (). XLA vectorizes operations
# on them over a batch. Operations on an array of ten rows take three times as long.


def bullets_fly(rows: jax.Array, pos: jax.Array, fires: jax.Array) -> tuple[Rows, Rows, Rows]:
    """Returns aliens and both kinds of bullets after the bullets have moved. Bullets off the board are removed."""
    words = [rows[y] for y in range(SIDE)]
    aliens = [word & FULL_ROW for word in words]
    ours = [lax.shift_right_logical(word, np.uint32(SIDE)) & FULL_ROW for word in words]
    theirs = [lax.shift_right_logical(word, np.uint32(2 * SIDE)) & FULL_ROW for word in words]

    none = jnp.zeros_like(words[0])
    ours[BOTTOM] = ours[BOTTOM] | jnp.where(fires, bit(pos), none)
    return aliens, [*ours[1:], none], [none, *theirs[:-1]]


def aliens_march(aliens: Rows, marches: jax.Array, right: jax.Array, turn: jax.Array) -> Rows:
    """Returns the aliens after their move, if they move."""
    # Aliens can't leave the board sideways, because they turn before. From the bottom row they wrap to the top in the
    # step that ends the game, as in the original.
    to_right = (marches & ~turn & right).astype(jnp.uint32)
    to_left = (marches & ~turn & ~right).astype(jnp.uint32)
    aliens = [jnp.where(turn, aliens[y - 1], aliens[y]) for y in range(SIDE)]
    return [lax.shift_right_logical(lax.shift_left(row, to_right), to_left) for row in aliens]


def nearest_alien(aliens: Rows, cannon: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Returns row and column (a row with one bit set) of the lowest alien in the nearest occupied column."""
    columns = packing.union(aliens)
    up_to_cannon = cannon | (cannon - 1)
    left = packing.last(columns & up_to_cannon)
    right = packing.first(columns & ~up_to_cannon | bit(2 * SIDE))  # that bit is farther away than any on the left
    # With left = 2**l and right = 2**r, this is pos - l <= r - pos. Without a column on the left, the product is 0.
    column = jnp.where(cannon * cannon <= left * right, left, right)
    row = functools.reduce(jnp.maximum, [jnp.where((aliens[y] & column) != 0, y, 0) for y in range(SIDE)])
    return row, column


def alien_shoots(theirs: Rows, shoots: jax.Array, row: jax.Array, column: jax.Array) -> Rows:
    """Returns the aliens' bullets, with a new one at the alien that shoots."""
    bullet = column.astype(jnp.uint32)
    return [cells | jnp.where(shoots & (row == y), bullet, 0) for y, cells in enumerate(theirs)]


def aliens_die(aliens: Rows, ours: Rows) -> tuple[Rows, Rows]:
    """Removes aliens and bullets of the cannon that meet, and returns the rest."""
    pairs = list(zip(aliens, ours, strict=True))
    return [alien & ~bullet for alien, bullet in pairs], [bullet & ~alien for alien, bullet in pairs]


def next_wave(aliens: Rows, cleared: jax.Array) -> Rows:
    """Returns the aliens, or a new wave if none is left."""
    return [row | jnp.where(cleared, first, np.uint32(0)) for row, first in zip(aliens, WAVE, strict=True)]


def join_boards(aliens: Iterable[ArrayLike], ours: Iterable[ArrayLike], theirs: Iterable[ArrayLike]) -> jax.Array:
    """Returns the words of the rows that contain these boards, given as rows of bits."""
    words = [
        row | lax.shift_left(our, np.uint32(SIDE)) | lax.shift_left(their, np.uint32(2 * SIDE))
        for row, our, their in zip(aliens, ours, theirs, strict=True)
    ]
    return jnp.stack([*words[:BOTTOM], words[BOTTOM] | BOTTOM_MARK], axis=-1)


def rows_of(alien_map: ArrayLike, f_bullet_map: ArrayLike, e_bullet_map: ArrayLike) -> jax.Array:
    """Converts boards like those of the state, of zeros and ones or bools, (..., 10, 10), to `rows`, (..., 10)."""
    boards = map(packing.from_board, (alien_map, f_bullet_map, e_bullet_map))
    return join_boards(*(jnp.moveaxis(board, -1, 0) for board in boards))


def count(rows: Rows) -> jax.Array:
    """Returns the number of bits set, int32 ()."""
    # Three rows fill a word. Processors count the bits of words one word at a time, or with a dozen operations each.
    threes = [rows[y : y + 3] for y in range(0, SIDE, 3)]
    words = [
        packing.union([lax.shift_left(row, np.uint32(SIDE * i)) for i, row in enumerate(three)]) for three in threes
    ]
    return functools.reduce(lax.add, map(lax.population_count, words)).astype(jnp.int32)
