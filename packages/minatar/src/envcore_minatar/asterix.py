"""Asterix-MinAtar, after MinAtar 1.0.15 `environments/asterix.py`."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.fusion import compute_once
from envcore.typing import Bool, Int
from flax import struct
from jax import lax
from jax.typing import ArrayLike

from envcore_minatar import packing
from envcore_minatar.game import DOWN, LEFT, NOTHING, PLACE, RIGHT, UP, Game, MinAtarParams, MinAtarState, digits, up_to
from envcore_minatar.packing import NUM_LANES, ONES, SIDE, Halves, Word

_DX, _DY = (1, 0, 1, 2, 1, 1), (1, 1, 0, 1, 2, 1)  # changes of column and row by action, plus one
_CHOICES = 840  # the least common multiple of 1 to 8, so it is divisible by any number of free slots
_FIRST_SPAWN_SPEED, _FIRST_MOVE_SPEED, _RAMP_INTERVAL = 10, 5, 100
_ALL = np.uint32(2**NUM_LANES - 1)

_ROW, _COLUMN, _CHANNEL = packing.cells(4)
_PLAYER, _ENEMY, _TRAIL, _GOLD = range(4)
_CELLS = packing.cell_number(_ROW, _COLUMN, _CHANNEL)
# A cell shows an entity or a trail if the lane of its row contains its column plus one.
_ENEMIES, _TRAILS, _GOLDS = (np.where(i == _CHANNEL, packing.in_lane_of(_ROW, 15), 0) for i in (_ENEMY, _TRAIL, _GOLD))
_COLUMNS = packing.shown_in(_ROW, _COLUMN)


@struct.dataclass
class AsterixState(MinAtarState):
    """State of `Asterix`. Rows count from the top, columns from the left, from 0 to 9. Slot i is row i + 1.

    Attributes:
      player_x: column of the player.
      player_y: row of the player, from 1 to 8.
      spawn_speed: number of steps between two new entities, initially 10.
      spawn_timer: number of steps until an entity appears.
      move_speed: number of steps between two moves of the entities, initially 5.
      move_timer: number of steps until the entities move.
      ramp_index: how many times the difficulty has increased.
      ramp_timer: number of steps until the difficulty increases, from -1 to 100.
      columns: lane i (bits 4i to 4i + 3) is the column of slot i's entity plus one, or 0 if it is free.
      from_left: bit i is set if the entity in slot i moves right. Ignore the bits of free slots.
      gold: bit i is set if the entity in slot i is gold. Ignore the bits of free slots.
    """

    player_x: Int
    player_y: Int
    spawn_speed: Int
    spawn_timer: Int
    move_speed: Int
    move_timer: Int
    ramp_index: Int
    ramp_timer: Int
    columns: Word
    from_left: Word
    gold: Word

    @property
    def entities(self) -> jax.Array:
        """Returns the slots, int32 (8, 5): filled, column, row, moves right, is gold. Free slots are all zeros."""
        column = packing.unpack_lanes(self.columns)
        flags = [packing.unpack_lanes(packing.spread(mask)) for mask in (self.from_left, self.gold)]
        rows = jnp.broadcast_to(np.arange(1, NUM_LANES + 1, dtype=np.int32), column.shape)
        found = jnp.stack([jnp.ones_like(column), column - 1, rows, *flags], axis=-1)
        return jnp.where((column > 0)[..., None], found, 0)

    @property
    def shot_timer(self) -> jax.Array:
        """Always 0, as in the original, which doesn't use it: int32 ()."""
        return jnp.zeros_like(self.spawn_timer)


def words_of(entities: ArrayLike) -> dict[str, jax.Array]:
    """Returns the fields for `state.replace`, given entities like `state.entities`. Entity i is in row i + 1."""
    filled, column, _, from_left, gold = jnp.moveaxis(jnp.asarray(entities).astype(jnp.uint32), -1, 0)
    columns = packing.pack_lanes(jnp.moveaxis(filled * (column + 1), -1, 0))
    return {"columns": columns, "from_left": packing.mask_of(from_left), "gold": packing.mask_of(gold)}


class AsterixDraws(NamedTuple):
    """Draws of a step: the entity that appears if it is time for one."""

    from_left: Bool
    gold: Bool
    choice: Int  # from 0 to 839, selects number choice * n // 840 of n free slots


@dataclasses.dataclass(frozen=True)
class Asterix(Game[AsterixState, AsterixDraws]):
    """Asterix-MinAtar: gather the gold that crosses the board, and avoid the enemies.

    Original: MinAtar 1.0.15 `environments/asterix.py` run through its `Environment`, Young & Tian (2019), "MinAtar: an
      Atari-inspired testbed for thorough and reproducible reinforcement learning experiments".

    Each of the rows 1 to 8 is a slot for one entity, gold or an enemy. The order of a step:

    - Every `spawn_speed` steps, an entity appears in a random free slot. It starts at the left edge and moves right, or
      at the right edge and moves left, with equal probability. It is gold with probability 1/3. Nothing appears if no
      slot is free.
    - The player moves one cell within rows 1 to 8, and touches the entity in its cell. Gold is collected. An enemy ends
      the game.
    - Every `move_speed` steps, all entities move one cell. Those that leave the board disappear. The player touches the
      entity in its cell again.
    - With `difficulty_ramping`, `spawn_speed` decreases from 10 by one every 102 steps, and `move_speed` from 5 by one
      every 204 steps, until both are 1.

    The rest of a step still takes place after an enemy is touched. With probability `sticky_action_prob` a step repeats
    the last executed action instead of the given one.

    Observation: bool (10, 10, 4), rows, columns and channels.
      0: the player, 1: enemies
      2: trails, in the cell behind each entity unless it is off the board
      3: gold
    Action: int32 (). The full set has a sixth action, fire, which does nothing.
      0: nothing, 1: left, 2: up, 3: right, 4: down
    Reward: 1 for collecting gold, at most 1 per step because the player's row has one slot.
    Termination: an enemy is touched. A step after that changes nothing. There is no time limit.

    Deviations: none. As in the original, the last executed action is kept over a reset.
    """

    minimal_actions = (NOTHING, LEFT, UP, RIGHT, DOWN)
    channels = ("player", "enemy", "trail", "gold")
    num_words = 1

    def init_state(self, draws: jax.Array, params: MinAtarParams) -> AsterixState:
        return AsterixState(
            player_x=jnp.int32(5),
            player_y=jnp.int32(5),
            spawn_speed=jnp.int32(_FIRST_SPAWN_SPEED),
            spawn_timer=jnp.int32(_FIRST_SPAWN_SPEED),
            move_speed=jnp.int32(_FIRST_MOVE_SPEED),
            move_timer=jnp.int32(_FIRST_MOVE_SPEED),
            ramp_index=jnp.int32(0),
            ramp_timer=jnp.int32(_RAMP_INTERVAL),
            columns=jnp.uint32(0),
            from_left=jnp.uint32(0),
            gold=jnp.uint32(0),
        )

    def state_fields(self) -> dict[str, spaces.Space]:
        mask = spaces.Box(0, _ALL, (), jnp.uint32)
        return {
            "player_x": PLACE,
            "player_y": up_to(NUM_LANES, least=1),
            "spawn_speed": up_to(_FIRST_SPAWN_SPEED, least=1),
            "spawn_timer": up_to(_FIRST_SPAWN_SPEED),
            "move_speed": up_to(_FIRST_MOVE_SPEED, least=1),
            "move_timer": up_to(_FIRST_MOVE_SPEED),
            # increases whenever `spawn_speed` decreases, down to 1, while `move_speed` reaches 1 earlier
            "ramp_index": up_to(_FIRST_SPAWN_SPEED - 1),
            "ramp_timer": up_to(_RAMP_INTERVAL, least=-1),
            "columns": spaces.Box(0, SIDE * ONES, (), jnp.uint32),
            "from_left": mask,
            "gold": mask,
        }

    def draw_game(self, words: jax.Array) -> AsterixDraws:
        side, gold, choice = digits(words[0], 2, 3, _CHOICES)
        return AsterixDraws(side == 0, gold == 0, choice)

    def play(self, state: AsterixState, action: jax.Array, draws: AsterixDraws) -> tuple[AsterixState, jax.Array]:
        # Computed once because every leaf depends on it: 75 instead of 92 ns per step for 2,048 environments.
        columns, kinds, gathers, dies = compute_once(_play_entities, state, action, draws)
        x, y = _walk(state, action)
        after = state.replace(
            columns=columns,
            from_left=kinds & _ALL,
            gold=lax.shift_right_logical(kinds, np.uint32(NUM_LANES)),
            player_x=x,
            player_y=y,
            spawn_timer=jnp.where(state.spawn_timer == 0, state.spawn_speed, state.spawn_timer) - 1,
            move_timer=jnp.where(state.move_timer == 0, state.move_speed, state.move_timer) - 1,
            terminal=dies,
            last_action=action,
            **(_ramp(state) if self.difficulty_ramping else {}),
        )
        return after, jnp.where(gathers, 1.0, 0.0)

    def observe(self, state: AsterixState, params: MinAtarParams) -> jax.Array:
        return packing.expand_once(_expand, *compute_once(_visible, state))

    def paint(self, state: AsterixState, height: int) -> jax.Array:
        from envcore_minatar.render import paint_asterix

        timers = state.spawn_speed, state.spawn_timer, state.move_speed, state.move_timer
        slowest = {"slowest_spawn": _FIRST_SPAWN_SPEED, "slowest_move": _FIRST_MOVE_SPEED}
        return paint_asterix(height, state.player_x, state.player_y, *timers, state.entities, **slowest)


def _play_entities(state: AsterixState, action: jax.Array, draws: AsterixDraws) -> tuple[jax.Array, ...]:
    """Takes a step without timers and ramping: `columns`, `kinds`, whether gold is collected, and an enemy hit."""
    columns, kinds = _spawn(state.columns, state.from_left | state.gold << NUM_LANES, state.spawn_timer == 0, draws)
    x, y = _walk(state, action)
    columns, gathers, dies = _touch(columns, kinds, x, y)
    columns = jnp.where(state.move_timer == 0, _move(columns, kinds), columns)
    # The original touches again only if entities have moved. Otherwise it makes no difference.
    columns, gathers_moved, dies_moved = _touch(columns, kinds, x, y)
    return columns, kinds, gathers | gathers_moved, dies | dies_moved


def _spawn(columns: jax.Array, kinds: jax.Array, spawns: jax.Array, draws: AsterixDraws) -> tuple[jax.Array, jax.Array]:
    """Returns `columns` and `kinds` after an entity has appeared, if it is time and a slot is free."""
    slot = jnp.where(spawns, _free_slot(columns, draws.choice), NUM_LANES)
    columns |= packing.bit(4 * slot) * jnp.where(draws.from_left, np.uint32(1), np.uint32(SIDE))
    moves_right = packing.bit(slot) & _ALL
    is_gold = moves_right << NUM_LANES
    kinds = jnp.where(draws.from_left, kinds | moves_right, kinds & ~moves_right)
    return columns, jnp.where(draws.gold, kinds | is_gold, kinds & ~is_gold)


def _free_slot(columns: jax.Array, choice: jax.Array) -> jax.Array:
    """Returns the chosen free slot, or 8 if no slot is free: int32.

    Adds and compares lane by lane. No lane exceeds 15, so none overflows into the next.
    """
    free = ONES & ~packing.not_zero(columns)
    up_to = free * ONES  # number of free slots up to and including this one
    nth = lax.div(choice.astype(jnp.uint32) * (up_to >> 28), np.uint32(_CHOICES))
    before = ((nth + 8) * ONES - up_to) & 8 * ONES  # 8 where `up_to <= nth`, in the slots before the chosen one
    return lax.population_count(before).astype(jnp.int32)


def _walk(state: AsterixState, action: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Returns the player's column and row after its move."""
    x, y = state.player_x + packing.lookup(_DX, action) - 1, state.player_y + packing.lookup(_DY, action) - 1
    return jnp.clip(x, 0, SIDE - 1), jnp.clip(y, 1, NUM_LANES)


def _touch(columns: jax.Array, kinds: jax.Array, x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Touches the entity at (x, y). Returns the remaining `columns`, whether gold is collected, and if it kills."""
    slot = y - 1
    touches, is_gold = packing.lane(columns, slot) == x + 1, _is_gold(kinds, slot)
    gathers = touches & is_gold
    return jnp.where(gathers, columns & ~(15 * packing.bit(4 * slot)), columns), gathers, touches & ~is_gold


def _move(columns: jax.Array, kinds: jax.Array) -> jax.Array:
    """Returns `columns` after all entities have moved by one cell."""
    taken, moves_right = packing.not_zero(columns), packing.spread(kinds & _ALL)
    moved = columns + (taken & moves_right) - (taken & ~moves_right)  # from 0 to 11, so no lane overflows into the next
    off_right = moved & moved >> 1 & moved >> 3 & ONES  # 11. Off the left edge it is 0, a free slot
    return moved - 11 * off_right


def _ramp(state: AsterixState) -> dict[str, jax.Array]:
    """Returns the difficulty fields after a step."""
    on = (state.spawn_speed > 1) | (state.move_speed > 1)
    rises = on & (state.ramp_timer < 0)
    odd = (state.ramp_index & 1) == 1
    return {
        "spawn_speed": jnp.where(rises & (state.spawn_speed > 1), state.spawn_speed - 1, state.spawn_speed),
        "move_speed": jnp.where(rises & (state.move_speed > 1) & odd, state.move_speed - 1, state.move_speed),
        "ramp_index": jnp.where(rises, state.ramp_index + 1, state.ramp_index),
        "ramp_timer": jnp.where(rises, _RAMP_INTERVAL, jnp.where(on, state.ramp_timer - 1, state.ramp_timer)),
    }


def _visible(state: AsterixState) -> tuple[jax.Array, Halves, Halves, Halves]:
    """Returns the player's cell, and halves of three words with a lane per slot: columns + 1 of enemy, trail, gold."""
    gold = 15 * packing.spread(state.gold)
    enemies, trails, golds = state.columns & ~gold, _move(state.columns, ~state.from_left), state.columns & gold
    return (
        packing.cell_number(state.player_y, state.player_x, _PLAYER),
        packing.halves(enemies),
        packing.halves(trails),
        packing.halves(golds),
    )


def _expand(player: jax.Array, enemies: Halves, trails: Halves, gold: Halves) -> jax.Array:
    """Returns which cells show something, bool (400,), given what is visible."""
    columns = packing.masked(enemies, _ENEMIES) | packing.masked(trails, _TRAILS) | packing.masked(gold, _GOLDS)
    return (player == _CELLS) | (columns == _COLUMNS)


def _is_gold(kinds: jax.Array, slot: jax.Array) -> jax.Array:
    return packing.has_bit(kinds, slot + NUM_LANES)
