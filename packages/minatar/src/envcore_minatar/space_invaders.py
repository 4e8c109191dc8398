"""SpaceInvaders-MinAtar: shoot a block of aliens that comes down, and stay out of the way of it and of its bullets.

Original: MinAtar 1.0.15 `environments/space_invaders.py` played through `Environment`, Young & Tian (2019), "MinAtar:
an Atari-inspired testbed for thorough and reproducible reinforcement learning experiments".

The cannon moves along the bottom row and shoots upwards, at most once in five steps. All aliens move sideways together;
where one of them stands at the edge they would leave by, they go down a row and turn round instead. They move once in
as many steps as there are aliens alive, and at least once in `enemy_move_interval` steps, 12 at first. Every tenth step
the lowest alien of the occupied column nearest to the cannon (of two as near the left one) shoots downwards. Bullets
move a cell a step. An alien that a bullet of ours meets is gone with the bullet. Once all 24 are gone the next 24 stand
where the first stood, and with difficulty ramping the interval is one step shorter, down to 6.

A step: the cannon moves or shoots, our bullets move, their bullets move, aliens move, an alien shoots, aliens die.

With probability `sticky_action_prob` a step executes the action executed last, in place of the one given.

Observation: bool (10, 10, 6), rows and columns of cannon, aliens, aliens if they move left, aliens if they move right,
  our bullets, their bullets.
Action: 0 nothing, 1 left, 2 right, 3 fire. The full set has six: nothing, left, up, right, down, fire; up and down do
  nothing.
Reward: 1 for an alien shot.
Termination: a bullet or an alien reaches the cannon, or the aliens turn while one of them stands in the bottom row. A
  step after that changes nothing. There is no time limit.

Deviations: none. As in the original, the action executed last survives a reset.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore.fusion import compute_once
from flax import struct
from jax import lax

from envcore_minatar.game import FIRE, LEFT, NOTHING, RIGHT, Game, MinAtarParams, MinAtarState, move_sideways
from envcore_minatar.packing import SIDE, Layout, bit, expand_once, from_board, to_board
from envcore_minatar.space_invaders_boards import (
    BOTTOM,
    BOTTOM_MARK,
    WAVE,
    alien_shoots,
    aliens_die,
    aliens_march,
    bullets_fly,
    columns_of,
    count,
    joined,
    nearest_alien,
    next_wave,
)

_COOL_DOWN = 5
_SHOT_INTERVAL = 10
_SLOWEST, _FASTEST = 12, 6


class SpaceInvadersFields(NamedTuple):
    """What `SpaceInvadersState.packed` holds. Columns count from the left, from 0 to 9."""

    pos: Any  # column of the cannon
    shot_timer: Any  # steps until the cannon can shoot again
    alien_right: Any  # bool, aliens move right
    enemy_move_interval: Any  # 12 minus `ramp_index`
    alien_move_timer: Any
    alien_shot_timer: Any
    terminal: Any  # bool, the cannon is lost
    last_action: Any  # executed last, in the full action set; survives resets


_LAYOUT = Layout(
    SpaceInvadersFields, pos=4, shot_timer=3, alien_right=1, enemy_move_interval=4, alien_move_timer=4,
    alien_shot_timer=4, terminal=1, last_action=3,
)  # fmt: skip


def _board(number: int, doc: str) -> property:
    return property(lambda state: to_board(lax.shift_right_logical(state.rows, np.uint32(SIDE * number))), doc=doc)


@struct.dataclass
class SpaceInvadersState(MinAtarState):
    """State of `SpaceInvaders`; the fields of `SpaceInvadersFields` are properties of it."""

    rows: Any  # uint32 (10,); of row y bit x is an alien in column x, 10 + x our bullet, 20 + x theirs, 30 the bottom

    pos = _LAYOUT.property("pos")
    shot_timer = _LAYOUT.property("shot_timer")
    alien_right = _LAYOUT.property("alien_right")
    enemy_move_interval = _LAYOUT.property("enemy_move_interval")
    alien_move_timer = _LAYOUT.property("alien_move_timer")
    alien_shot_timer = _LAYOUT.property("alien_shot_timer")
    terminal = _LAYOUT.property("terminal")
    last_action = _LAYOUT.property("last_action")

    @property
    def alien_dir(self) -> jax.Array:
        """-1 if aliens move left, 1 if they move right."""
        return jnp.where(self.alien_right, np.int32(1), np.int32(-1))

    @property
    def ramp_index(self) -> jax.Array:
        """How often the aliens have become faster."""
        return _SLOWEST - self.enemy_move_interval

    alien_map = _board(0, "Where aliens are, bool (10, 10).")
    f_bullet_map = _board(1, "Where bullets of the cannon are, bool (10, 10).")
    e_bullet_map = _board(2, "Where bullets of aliens are, bool (10, 10).")


class SpaceInvadersDraws(NamedTuple):
    """A step of Space Invaders draws nothing."""


class _Events(NamedTuple):
    """What happens in a step that depends on more than one row of the boards."""

    lost: Any  # bool, a bullet or an alien reaches the cannon, or the bottom
    turn: Any  # bool, aliens turn and move down
    period: Any  # steps until they move again, if they move in this one
    shooter_row: Any
    shooter_column: Any  # a row with its bit set, as a number
    kills: Any
    cleared: Any  # bool, no alien is left


# A word, because what is computed once costs a loop for each array.
_EVENTS = Layout(_Events, lost=1, turn=1, period=4, shooter_row=4, shooter_column=10, kills=7, cleared=1)


@dataclasses.dataclass(frozen=True)
class SpaceInvaders(Game[SpaceInvadersState, SpaceInvadersDraws]):
    """SpaceInvaders-MinAtar; see the module for its rules."""

    minimal_actions = (NOTHING, LEFT, RIGHT, FIRE)
    channels = ("cannon", "alien", "alien_left", "alien_right", "friendly_bullet", "enemy_bullet")
    layout = _LAYOUT

    def init_state(self, key: jax.Array, params: MinAtarParams) -> SpaceInvadersState:
        return start()

    def draw(self, words: jax.Array) -> SpaceInvadersDraws:
        return SpaceInvadersDraws()

    def play(
        self, state: SpaceInvadersState, action: jax.Array, draws: SpaceInvadersDraws
    ) -> tuple[SpaceInvadersState, jax.Array]:
        events = _EVENTS.unpack(compute_once(_events, state.packed, state.rows, action))
        before = _LAYOUT.unpack(state.packed)
        pos, fires, marches, shoots = _starts(before, action)

        aliens, ours, theirs = bullets_fly(state.rows, pos, fires)
        aliens = aliens_march(aliens, marches, before.alien_right, events.turn)
        theirs = alien_shoots(theirs, shoots, events.shooter_row, events.shooter_column)
        aliens, ours = aliens_die(aliens, ours)
        aliens = next_wave(aliens, events.cleared)

        faster = events.cleared & (before.enemy_move_interval > _FASTEST) & self.difficulty_ramping
        after = SpaceInvadersFields(
            pos=pos,
            shot_timer=jnp.maximum(jnp.where(fires, _COOL_DOWN, before.shot_timer) - 1, 0),
            alien_right=before.alien_right ^ events.turn,
            enemy_move_interval=before.enemy_move_interval - faster.astype(jnp.int32),
            alien_move_timer=jnp.where(marches, events.period, before.alien_move_timer) - 1,
            alien_shot_timer=jnp.where(shoots, _SHOT_INTERVAL, before.alien_shot_timer) - 1,
            terminal=events.lost,
            last_action=action,
        )
        rows = joined(aliens, ours, theirs)
        return state.replace(packed=_LAYOUT.pack(after), rows=rows), events.kills.astype(jnp.float32)

    def observe(self, state: SpaceInvadersState, params: MinAtarParams) -> jax.Array:
        # A row's word holds all that may be seen in it, and a mask says where: one test a cell.
        column, channel = np.divmod(np.arange(SIDE * len(self.channels), dtype=np.uint32), len(self.channels))

        def shows(name: str, board: int) -> np.ndarray:
            return np.where(channel == self.channels.index(name), 1 << column + SIDE * board, 0).astype(np.uint32)

        cannon_column = np.where(channel == self.channels.index("cannon"), column, SIDE).astype(np.int32)
        right = -state.alien_right.astype(jnp.uint32)  # all bits or none
        masks = (
            (shows("alien", 0) | shows("friendly_bullet", 1) | shows("enemy_bullet", 2))
            | ((shows("alien_left", 0) & ~right) | (shows("alien_right", 0) & right))
            | jnp.where(cannon_column == state.pos, BOTTOM_MARK, np.uint32(0))
        )
        return expand_once(lambda rows, masks: (rows[:, None] & masks[None]) != 0, state.rows, masks)


def start() -> SpaceInvadersState:
    """The first state, always the same."""
    first = SpaceInvadersFields(5, 0, False, _SLOWEST, _SLOWEST, _SHOT_INTERVAL, False, NOTHING)
    none = [np.uint32(0)] * SIDE
    return SpaceInvadersState(packed=_LAYOUT.pack(first), rows=joined(WAVE, none, none))


def from_original(fields: Mapping[str, Any], last_action: Any = NOTHING) -> SpaceInvadersState:
    """The state that holds the original's fields.

    Args:
      fields: the attributes of the original's `Env`, numbers or arrays by their names; `ramp_index` is 12 -
        `enemy_move_interval`, as in every state that the game can reach.
      last_action: of the original's `Environment`.
    """
    same = {name: fields[name] for name in SpaceInvadersFields._fields if name in fields}
    right = jnp.asarray(fields["alien_dir"]) > 0
    packed = SpaceInvadersFields(**same, alien_right=right, last_action=last_action)
    boards = [from_board(jnp.asarray(fields[name])) for name in ("alien_map", "f_bullet_map", "e_bullet_map")]
    return SpaceInvadersState(packed=_LAYOUT.pack(packed), rows=joined(*boards))


def to_original(state: SpaceInvadersState) -> dict[str, jax.Array]:
    """The original's fields of a state, by their names; the inverse of `from_original`."""
    fields = _LAYOUT.unpack(state.packed)._asdict()
    del fields["alien_right"], fields["last_action"]
    derived = ("alien_dir", "ramp_index", "alien_map", "f_bullet_map", "e_bullet_map")
    return {**fields, **{name: getattr(state, name) for name in derived}}


def _events(packed: jax.Array, rows: jax.Array, action: jax.Array) -> jax.Array:
    """The word of what happens in a step. It plays all of it, as XLA would otherwise for each row of the boards."""
    before = _LAYOUT.unpack(packed)
    pos, fires, marches, _ = _starts(before, action)
    cannon = bit(pos)

    aliens, ours, theirs = bullets_fly(rows, pos, fires)
    reached = (theirs[BOTTOM] | aliens[BOTTOM]) & cannon

    period = jnp.minimum(count(aliens), before.enemy_move_interval)
    edge = jnp.where(before.alien_right, bit(SIDE - 1), bit(0))
    turn = marches & ((columns_of(aliens) & edge) != 0)
    reached = reached | jnp.where(turn, aliens[BOTTOM], np.uint32(0))
    aliens = aliens_march(aliens, marches, before.alien_right, turn)
    reached = reached | (aliens[BOTTOM] & cannon)

    shooter_row, shooter_column = nearest_alien(aliens, cannon)
    kills = count(list(map(lax.bitwise_and, aliens, ours)))
    left, _ = aliens_die(aliens, ours)
    return _EVENTS.pack(_Events(reached != 0, turn, period, shooter_row, shooter_column, kills, columns_of(left) == 0))


def _starts(before: SpaceInvadersFields, action: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """The cannon's new column, and whether it shoots, aliens move, and an alien shoots."""
    pos = move_sideways(before.pos, action)
    fires = (action == FIRE) & (before.shot_timer == 0)
    return pos, fires, before.alien_move_timer == 0, before.alien_shot_timer == 0
