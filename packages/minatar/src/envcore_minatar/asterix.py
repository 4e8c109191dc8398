"""Asterix-MinAtar: gather the gold that crosses the board, and keep clear of the enemies that do.

Original: MinAtar 1.0.15 `environments/asterix.py` played through `Environment`, Young & Tian (2019), "MinAtar: an
Atari-inspired testbed for thorough and reproducible reinforcement learning experiments".

Rows 1 to 8 are slots for one entity each, gold or an enemy. A step goes in this order:

- Every `spawn_speed` steps an entity appears in a free slot drawn at random: at the left edge and moving right, or at
  the right edge and moving left, with equal chances; it is gold with a chance of 1/3. Nothing appears if no slot is
  free.
- The player moves one cell in rows 1 to 8, and touches what is in its cell: gold is gathered, an enemy ends the game.
- Every `move_speed` steps all entities move one cell, those that leave the board are gone, and the player touches
  what is in its cell again.
- With `difficulty_ramping`, until both speeds are 1, `spawn_speed` falls by one every 102 steps, from 10, and
  `move_speed` by one every 204 steps, from 5.

The rest of the step still takes place after an enemy was touched. With probability `sticky_action_prob` a step
executes the action executed last, in place of the one given.

Observation: bool (10, 10, 4), rows and columns of player, enemies, trails (the cell behind an entity, unless it is off
  the board) and gold.
Action: 0 nothing, 1 left, 2 up, 3 right, 4 down. The full set has a sixth, fire, that does nothing.
Reward: 1 for gathered gold; at most one a step, since the player's row has one slot.
Termination: an enemy is touched. A step after that changes nothing. There is no time limit.

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

from envcore_minatar.game import DOWN, LEFT, NOTHING, RIGHT, UP, Game, MinAtarParams, MinAtarState
from envcore_minatar.lanes import NUM_LANES, ONES, in_lane_of, lane, not_zero, pack_lanes, spread, unpack_lanes
from envcore_minatar.packing import SIDE, Layout, bit, cells, half, halves, has_bit, lookup, masked, number

_DX, _DY = (1, 0, 1, 2, 1, 1), (1, 1, 0, 1, 2, 1)  # by the action, plus one
_CHOICES = 840  # the least common multiple of 1 to 8: shared out evenly however many slots are free
_RAMP_INTERVAL = 100
_ALL = np.uint32(2**NUM_LANES - 1)

_ROW, _COLUMN, _CHANNEL = cells(4)
_PLAYER, _ENEMY, _TRAIL, _GOLD = range(4)
_CELLS = number(_ROW, _COLUMN, _CHANNEL)
# A cell shows an entity or a trail if the lane of its row holds its column plus one.
_ENEMIES, _TRAILS, _GOLDS = (np.where(i == _CHANNEL, in_lane_of(_ROW, 15), 0) for i in (_ENEMY, _TRAIL, _GOLD))
_COLUMNS = np.maximum(half(in_lane_of(_ROW, _COLUMN + 1)), 1)  # not 0, which is what a row without a lane holds


class AsterixFields(NamedTuple):
    """What `AsterixState.packed` holds. Rows count from the top, columns from the left, from 0 to 9."""

    player_x: Any
    player_y: Any
    spawn_speed: Any  # steps from one entity to the next
    spawn_timer: Any
    move_speed: Any  # steps from one move of the entities to the next
    move_timer: Any
    ramp_index: Any  # how often the difficulty has risen
    terminal: Any  # bool, an enemy was touched
    last_action: Any  # executed last, in the full action set; survives resets


_LAYOUT = Layout(
    AsterixFields,
    player_x=4,
    player_y=4,
    spawn_speed=4,  # 10 at first, and its timer at most that
    spawn_timer=4,
    move_speed=3,  # 5 at first, and its timer at most that
    move_timer=3,
    ramp_index=5,  # 9 in the end: it rises with every fall of `spawn_speed` to 1, and `move_speed` is 1 earlier
    terminal=1,
    last_action=3,
)


class AsterixKinds(NamedTuple):
    """What `AsterixState.kinds` holds. The bits of free slots mean nothing."""

    from_left: Any  # bit i: the entity in slot i moves right
    gold: Any  # bit i: the entity in slot i is gold
    ramp_timer: Any  # plus one, since the original counts down to -1


_KINDS = Layout(AsterixKinds, from_left=NUM_LANES, gold=NUM_LANES, ramp_timer=7)


@struct.dataclass
class AsterixState(MinAtarState):
    """State of `Asterix`; the fields of `AsterixFields` are properties of it."""

    columns: Any  # uint32 (), lane i (bits 4i to 4i + 3) is the column of slot i's entity plus one, or 0 if it has none
    kinds: Any  # uint32 (), `AsterixKinds`

    player_x = _LAYOUT.property("player_x")
    player_y = _LAYOUT.property("player_y")
    spawn_speed = _LAYOUT.property("spawn_speed")
    spawn_timer = _LAYOUT.property("spawn_timer")
    move_speed = _LAYOUT.property("move_speed")
    move_timer = _LAYOUT.property("move_timer")
    ramp_index = _LAYOUT.property("ramp_index")
    terminal = _LAYOUT.property("terminal")
    last_action = _LAYOUT.property("last_action")

    @property
    def ramp_timer(self) -> jax.Array:
        """`ramp_timer`, from -1 up, read from `kinds`."""
        return _KINDS.read(self.kinds, "ramp_timer") - 1

    @property
    def entities(self) -> jax.Array:
        """The slots, int32 (8, 5): filled, column, row, moves right, is gold; zeros where a slot is free."""
        slots = np.arange(NUM_LANES, dtype=np.int32)
        column = unpack_lanes(self.columns)
        flags = [flag(self.kinds, slots).astype(jnp.int32) for flag in (has_bit, _is_gold)]
        found = jnp.stack([jnp.ones_like(column), column - 1, slots + 1, *flags], axis=-1)
        return jnp.where(column[:, None] > 0, found, 0)


class AsterixDraws(NamedTuple):
    """What an entity that appears in this step would be, and where."""

    from_left: Any  # bool
    gold: Any  # bool
    choice: Any  # from 0 to 839: of n free slots it appears in number choice * n // 840


@dataclasses.dataclass(frozen=True)
class Asterix(Game[AsterixState, AsterixDraws]):
    """Asterix-MinAtar; see the module for its rules."""

    minimal_actions = (NOTHING, LEFT, UP, RIGHT, DOWN)
    channels = ("player", "enemy", "trail", "gold")
    layout = _LAYOUT
    num_words = 1

    def init_state(self, key: jax.Array, params: MinAtarParams) -> AsterixState:
        return start()

    def draw(self, words: jax.Array) -> AsterixDraws:
        side, gold, choice = random.digits(words[0], 2, 3, _CHOICES)
        return AsterixDraws(side == 0, gold == 0, choice)

    def play(self, state: AsterixState, action: jax.Array, draws: AsterixDraws) -> tuple[AsterixState, jax.Array]:
        # Computed once, since every leaf depends on it: 92 ns a step become 75 at 2,048 environments.
        columns, kinds, gathers, dies = compute_once(_play_entities, state, action, draws)
        now = _LAYOUT.unpack(state.packed)
        x, y = _walk(now, action)
        after = now._replace(
            player_x=x,
            player_y=y,
            spawn_timer=jnp.where(now.spawn_timer == 0, now.spawn_speed, now.spawn_timer) - 1,
            move_timer=jnp.where(now.move_timer == 0, now.move_speed, now.move_timer) - 1,
            terminal=dies,
            last_action=action,
        )
        if self.difficulty_ramping:
            after, kinds = _ramp(after, kinds)
        return state.replace(packed=_LAYOUT.pack(after), columns=columns, kinds=kinds), jnp.where(gathers, 1.0, 0.0)

    def observe(self, state: AsterixState, params: MinAtarParams) -> jax.Array:
        player, enemies, trails, gold = compute_once(_things, state)
        columns = masked(enemies, _ENEMIES) | masked(trails, _TRAILS) | masked(gold, _GOLDS)
        return ((player == _CELLS) | (columns == _COLUMNS)).reshape(SIDE, SIDE, len(self.channels))


def start() -> AsterixState:
    """The first state."""
    packed = _LAYOUT.pack(AsterixFields(5, 5, 10, 10, 5, 5, 0, False, NOTHING))
    return AsterixState(packed=packed, columns=np.uint32(0), kinds=_KINDS.pack(AsterixKinds(0, 0, _RAMP_INTERVAL + 1)))


def from_original(fields: Mapping[str, Any], last_action: Any = NOTHING) -> AsterixState:
    """The state that holds the original's fields.

    Args:
      fields: the attributes of the original's `Env`, numbers or arrays by their names; `entities` is (8, 5): filled,
        column, row, moves right, is gold. `shot_timer`, which is always 0, is not looked at.
      last_action: of the original's `Environment`.
    """
    numbers = AsterixFields(**{name: fields[name] for name in AsterixFields._fields[:-1]}, last_action=last_action)
    filled, column, _, from_left, gold = jnp.moveaxis(jnp.asarray(fields["entities"]).astype(jnp.uint32), -1, 0)
    slots = np.arange(NUM_LANES, dtype=np.uint32)
    from_left, gold = (jnp.sum(lax.shift_left(flag, slots), dtype=jnp.uint32) for flag in (from_left, gold))
    kinds = _KINDS.pack(AsterixKinds(from_left, gold, fields["ramp_timer"] + 1))
    return AsterixState(packed=_LAYOUT.pack(numbers), columns=pack_lanes(filled * (column + 1)), kinds=kinds)


def to_original(state: AsterixState) -> dict[str, jax.Array]:
    """The original's fields of a state, by their names; the inverse of `from_original`."""
    numbers = _LAYOUT.unpack(state.packed)._asdict()
    del numbers["last_action"]
    more = {"ramp_timer": state.ramp_timer, "entities": state.entities, "shot_timer": jnp.zeros_like(state.ramp_timer)}
    return {**numbers, **more}


def _play_entities(state: AsterixState, action: jax.Array, draws: AsterixDraws) -> tuple[jax.Array, ...]:
    """A step but for timers and ramp: `columns`, `kinds`, whether gold is gathered, whether an enemy is touched."""
    now = _LAYOUT.unpack(state.packed)
    columns, kinds = _spawn(state.columns, state.kinds, now.spawn_timer == 0, draws)
    x, y = _walk(now, action)
    columns, gathers, dies = _touch(columns, kinds, x, y)
    columns = jnp.where(now.move_timer == 0, _move(columns, kinds), columns)
    # The original touches again only when entities have moved; otherwise it makes no difference.
    columns, gathers_moved, dies_moved = _touch(columns, kinds, x, y)
    return columns, kinds, gathers | gathers_moved, dies | dies_moved


def _spawn(columns: jax.Array, kinds: jax.Array, spawns: jax.Array, draws: AsterixDraws) -> tuple[jax.Array, jax.Array]:
    """`columns` and `kinds` once an entity has appeared, if it is time and a slot is free."""
    slot = jnp.where(spawns, _free_slot(columns, draws.choice), NUM_LANES)
    columns |= bit(4 * slot) * jnp.where(draws.from_left, np.uint32(1), np.uint32(SIDE))
    moves_right = bit(slot) & _ALL
    is_gold = moves_right << NUM_LANES
    kinds = jnp.where(draws.from_left, kinds | moves_right, kinds & ~moves_right)
    return columns, jnp.where(draws.gold, kinds | is_gold, kinds & ~is_gold)


def _free_slot(columns: jax.Array, choice: jax.Array) -> jax.Array:
    """The free slot that is chosen, or 8 if none is free: int32.

    Adds and compares lane by lane; no lane ever holds more than 15, so that none spills into the next.
    """
    free = ONES & ~not_zero(columns)
    up_to = free * ONES  # how many slots are free among this and those before it
    nth = lax.div(choice.astype(jnp.uint32) * (up_to >> 28), np.uint32(_CHOICES))
    before = ((nth + 8) * ONES - up_to) & 8 * ONES  # 8 where `up_to <= nth`: in the slots before the chosen one
    return lax.population_count(before).astype(jnp.int32)


def _walk(now: AsterixFields, action: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Where the player is after its move."""
    x, y = now.player_x + lookup(_DX, action) - 1, now.player_y + lookup(_DY, action) - 1
    return jnp.clip(x, 0, SIDE - 1), jnp.clip(y, 1, NUM_LANES)


def _touch(columns: jax.Array, kinds: jax.Array, x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The player at (x, y) touches what is there: `columns` without gathered gold, whether it gathers, and dies."""
    slot = y - 1
    touches, is_gold = lane(columns, slot) == x + 1, _is_gold(kinds, slot)
    gathers = touches & is_gold
    return jnp.where(gathers, columns & ~(15 * bit(4 * slot)), columns), gathers, touches & ~is_gold


def _move(columns: jax.Array, kinds: jax.Array) -> jax.Array:
    """`columns` once all entities have moved by a cell."""
    taken, moves_right = not_zero(columns), spread(kinds & _ALL)
    moved = columns + (taken & moves_right) - (taken & ~moves_right)  # from 0 to 11, so no lane spills into the next
    off_right = moved & moved >> 1 & moved >> 3 & ONES  # 11; off the left edge it is 0, a free slot
    return moved - 11 * off_right


def _ramp(now: AsterixFields, kinds: jax.Array) -> tuple[AsterixFields, jax.Array]:
    """The fields and `kinds` once the difficulty has risen, if it is time."""
    timer = _KINDS.read(kinds, "ramp_timer")
    on = (now.spawn_speed > 1) | (now.move_speed > 1)
    rises = on & (timer == 0)
    timer = jnp.where(rises, _RAMP_INTERVAL + 1, jnp.where(on, timer - 1, timer))
    odd = (now.ramp_index & 1) == 1
    now = now._replace(
        spawn_speed=jnp.where(rises & (now.spawn_speed > 1), now.spawn_speed - 1, now.spawn_speed),
        move_speed=jnp.where(rises & (now.move_speed > 1) & odd, now.move_speed - 1, now.move_speed),
        ramp_index=jnp.where(rises, now.ramp_index + 1, now.ramp_index),
    )
    return now, _KINDS.write(kinds, "ramp_timer", timer)


def _things(state: AsterixState) -> tuple[Any, ...]:
    """The player's cell, and halves of three words with a lane a slot: columns plus one of enemies, trails and gold."""
    gold = 15 * spread(_KINDS.read(state.kinds, "gold").astype(jnp.uint32))
    words = state.columns & ~gold, _move(state.columns, ~state.kinds), state.columns & gold
    return number(state.player_y, state.player_x, _PLAYER), *map(halves, words)


def _is_gold(kinds: jax.Array, slot: Any) -> jax.Array:
    return has_bit(kinds, slot + NUM_LANES)
