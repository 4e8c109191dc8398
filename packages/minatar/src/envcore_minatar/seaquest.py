"""Seaquest-MinAtar, after MinAtar 1.0.15 `environments/seaquest.py`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

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
from envcore_minatar.game import (
    DOWN,
    FIRE,
    FLAG,
    LEFT,
    NOTHING,
    PLACE,
    RIGHT,
    UP,
    Game,
    MinAtarParams,
    MinAtarState,
    digits,
    up_to,
)
from envcore_minatar.packing import FULL_ROW, SIDE, Number, Word, bit, expand_once

_MAX_OXYGEN = 200
_MAX_DIVERS = 6
_DIVER_SPAWN_SPEED, _DIVER_MOVE_INTERVAL = 30, 5
_SHOT_COOL_DOWN = 5
_FIRST_SPAWN_SPEED, _LAST_SPAWN_SPEED = 20, 1
_FIRST_MOVE_SPEED, _LAST_MOVE_SPEED = 5, 2

NUM_ROWS = 8
"""Number of rows with enemies and divers: rows 1 to 8 of the board."""
SHOT_INTERVAL = 10

_OXYGEN_A_CELL = 20

# For each channel: which word of a row contains it, from which bit on, and in which rows of the board.
_WATER, _ABOVE_GAUGES, _GAUGES = slice(1, 9), slice(0, 9), slice(9, 10)
SHOWN = {
    "sub_front": (2, 0, _ABOVE_GAUGES),
    "sub_back": (2, 10, _ABOVE_GAUGES),
    "friendly_bullet": (2, 20, _ABOVE_GAUGES),
    "trail": (0, 0, _WATER),
    "enemy_bullet": (0, 10, _WATER),
    "enemy_fish": (0, 20, _WATER),
    "enemy_sub": (1, 0, _WATER),
    "oxygen_guage": (2, 0, _GAUGES),
    "diver_guage": (2, 10, _GAUGES),
    "diver": (1, 10, _WATER),
}


NO_WORD = np.uint32(0)


class Bullet(NamedTuple):
    """A slot for a bullet of the player. If it is free, ignore its values."""

    exists: Bool
    right: Bool  # flies to the right
    x: Int
    y: Int


class Diver(NamedTuple):
    """A slot for a diver in the water. If it is free, ignore its values."""

    exists: Bool
    right: Bool  # swims to the right
    x: Int
    row: Int  # y - 1
    move_timer: Int


ItemT = TypeVar("ItemT", Bullet, Diver)


class Enemies(NamedTuple):
    """Masks and numbers (see `packing`) of 32 slots for enemies, the newest first.

    The original keeps lists of fish, of submarines and of their bullets. The order of the first two decides who is hit
    if several share a cell, so it is kept here. The order of bullets doesn't matter. A submarine's last bullet has left
    the board when it shoots again, 11 steps later, so its slot has room for one bullet. The bullet stays if the
    submarine dies. It has the submarine's row and direction and is faster, so it leaves before the submarine would.

    A slot is therefore taken for no longer than an enemy lives, 10 * (move_speed + 1) steps, and 32 slots are enough:
    Enemies spawn at least e_spawn_speed steps apart. `move_speed` is 2 by the time e_spawn_speed is 14. At most five of
    the enemies that spawned before are left, and they are gone 36 steps later. At most 15 enemies spawn in the
    meantime, because e_spawn_speed decreases at most once in two steps. All others live for 30 steps, so there are
    never more than 30.
    """

    alive: Word
    is_sub: Word
    right: Word  # moves to the right
    x: tuple[Word, ...]
    row: tuple[Word, ...]  # y - 1
    move_timer: tuple[Word, ...]
    shot_timer: tuple[Word, ...]  # of submarines
    bullet: Word  # has a bullet on the board
    bullet_x: tuple[Word, ...]


class Enemy(NamedTuple):
    """A new enemy, with a value for each field of `Enemies`."""

    alive: Bool
    is_sub: Bool
    right: Bool
    x: Int
    row: Int
    move_timer: Int
    shot_timer: Int
    bullet: Bool
    bullet_x: Int


ENEMY_BITS = (1, 1, 1, 4, 3, 3, 4, 1, 4)
"""Number of bits in each field of `Enemies`."""
NO_ENEMIES = Enemies._make(NO_WORD if bits == 1 else (NO_WORD,) * bits for bits in ENEMY_BITS)

# Shots are 5 steps apart and leave the board in 10. Divers come every 30 steps and leave in 60. So there are at most
# two of each. The constructed states of the recordings have one more bullet and two more divers.
_NUM_BULLETS, _BULLET_BITS = 3, (1, 1, 4, 4)
_NUM_DIVERS, _DIVER_BITS = 4, (1, 1, 4, 3, 3)


@struct.dataclass
class SeaquestState(MinAtarState):
    """State of `Seaquest`. Rows count from the top, columns from the left, from 0 to 9.

    Attributes:
      oxygen: number of steps that the oxygen lasts, up to 200. It falls to -1 in play.
      sub_x: column of the player.
      sub_y: row of the player.
      sub_or: whether the player faces right.
      shot_timer: number of steps until the player can shoot.
      surface: whether the player has not dived since it last surfaced.
      e_spawn_speed: number of steps between two new enemies.
      e_spawn_timer: number of steps until an enemy spawns.
      d_spawn_timer: number of steps until a diver spawns.
      move_speed: number of steps between two moves of an enemy, minus one.
      ramp_index: how many times the difficulty has increased.
      diver_count: number of divers on board. Negative after a full rescue, without a lower bound.
      f_bullets: the player's bullets, see `split_bullets`.
      divers: divers in the water, see `split_divers`.
      enemies: fish, submarines and their bullets.
    """

    oxygen: Int
    sub_x: Int
    sub_y: Int
    sub_or: Bool
    shot_timer: Int
    surface: Bool
    e_spawn_speed: Int
    e_spawn_timer: Int
    d_spawn_timer: Int
    move_speed: Int
    ramp_index: Int
    diver_count: Int
    f_bullets: Word
    divers: tuple[Word, Word]
    enemies: Enemies


class SeaquestDraws(NamedTuple):
    """Draws of a step: the enemy and the diver that spawn if it is time."""

    enemy_right: Bool  # comes from the left and moves to the right
    enemy_is_sub: Bool
    enemy_row: Int  # y - 1
    diver_right: Bool
    diver_row: Int  # y - 1


@dataclasses.dataclass(frozen=True)
class Seaquest(Game[SeaquestState, SeaquestDraws]):
    """Seaquest-MinAtar: steer a submarine, shoot fish and submarines, and bring up divers in time.

    Original: MinAtar 1.0.15 `environments/seaquest.py` run through its `Environment`, Young & Tian (2019), "MinAtar: an
      Atari-inspired testbed for thorough and reproducible reinforcement learning experiments".

    The player moves one cell per step between the surface, row 0, and row 8, and can shoot every fifth step. A bullet
    flies one cell per step and kills the first enemy that it hits or that runs into it. Enemies spawn at either side in
    rows 1 to 8, initially every 20 steps. A third of them are submarines. They don't spawn in a row where an enemy
    moves in the opposite direction. Initially they move every sixth step, and submarines shoot every eleventh step. A
    diver spawns every 30 steps and moves every sixth step. The player picks up divers that it meets, up to six. The
    episode ends when the player touches an enemy or an enemy's bullet.

    Under water, the oxygen decreases by one per step. Surfacing refills it to 200 and takes one diver. With six divers
    on board, surfacing rescues all six, for a reward, and then still takes one, so the count becomes -1. Surfacing with
    exactly 0 divers ends the episode, but surfacing with a negative count does not. With `difficulty_ramping`, the time
    between enemies gets one step shorter with every surfacing, down to one step, and the time between their moves gets
    one step shorter with every second surfacing, down to three steps.

    With probability `sticky_action_prob` a step repeats the last executed action instead of the given one.

    Observation: bool (10, 10, 10), rows, columns and channels.
      0: the front of the player's submarine
      1: the back of the player's submarine
      2: the player's bullets
      3: the previous positions of enemies and divers
      4: the bullets of enemies
      5: fish
      6: the enemy's submarines
      7: an oxygen gauge in the bottom row, one cell for 20
      8: a gauge of divers on board in the bottom row, one cell for each
      9: divers in the water
    Action: int32 (). The full set has the same six.
      0: nothing, 1: left, 2: up, 3: right, 4: down, 5: fire
    Reward: 1 for shooting an enemy. Up to 10 for bringing up six divers, one for each 20 of oxygen left, rounded down.
    Termination: the player is hit, is out of oxygen, or surfaces with exactly 0 divers. A step after that changes
      nothing. There is no time limit.

    Deviations: none. As in the original, the last executed action is kept over a reset.
    """

    minimal_actions = (NOTHING, LEFT, UP, RIGHT, DOWN, FIRE)
    channels = tuple(SHOWN)
    num_words = 1

    def init_state(self, draws: jax.Array, params: MinAtarParams) -> SeaquestState:
        return SeaquestState(
            oxygen=jnp.int32(_MAX_OXYGEN),
            sub_x=jnp.int32(SIDE // 2),
            sub_y=jnp.int32(0),
            sub_or=jnp.bool_(False),
            shot_timer=jnp.int32(0),
            surface=jnp.bool_(True),
            e_spawn_speed=jnp.int32(_FIRST_SPAWN_SPEED),
            e_spawn_timer=jnp.int32(_FIRST_SPAWN_SPEED),
            d_spawn_timer=jnp.int32(_DIVER_SPAWN_SPEED),
            move_speed=jnp.int32(_FIRST_MOVE_SPEED),
            ramp_index=jnp.int32(0),
            diver_count=jnp.int32(0),
            f_bullets=jnp.uint32(0),
            divers=(jnp.uint32(0), jnp.uint32(0)),
            enemies=NO_ENEMIES,
        )

    def state_fields(self) -> dict[str, spaces.Space]:
        diver_word = spaces.Box(0, 2**24 - 1, (), jnp.uint32)
        return {
            "oxygen": up_to(_MAX_OXYGEN, least=-1),
            "sub_x": PLACE,
            "sub_y": up_to(SIDE - 2),
            "sub_or": FLAG,
            "shot_timer": up_to(_SHOT_COOL_DOWN),
            "surface": FLAG,
            "e_spawn_speed": up_to(_FIRST_SPAWN_SPEED, least=_LAST_SPAWN_SPEED),
            "e_spawn_timer": up_to(_FIRST_SPAWN_SPEED),
            "d_spawn_timer": up_to(_DIVER_SPAWN_SPEED),
            "move_speed": up_to(_FIRST_MOVE_SPEED, least=_LAST_MOVE_SPEED),
            "ramp_index": up_to(_FIRST_SPAWN_SPEED - _LAST_SPAWN_SPEED),
            "diver_count": up_to(_MAX_DIVERS, least=-(2**31)),
            "f_bullets": spaces.Box(0, 2**30 - 1, (), jnp.uint32),
            "divers": spaces.Tuple((diver_word, diver_word)),
            "enemies": spaces.Tree(NO_ENEMIES),  # any bits are allowed
        }

    def draw_game(self, words: jax.Array) -> SeaquestDraws:
        right, kind, row, diver_right, diver_row = digits(words[0], 2, 3, NUM_ROWS, 2, NUM_ROWS)
        return SeaquestDraws(right == 1, kind == 0, row, diver_right == 1, diver_row)

    def play(self, state: SeaquestState, action: jax.Array, draws: SeaquestDraws) -> tuple[SeaquestState, jax.Array]:
        enemies, divers = _spawn_enemy(state, draws), _spawn_diver(state, draws)
        state = _resolve_action(state, action)
        shot, bullets = compute_once(
            bullets_hit, enemies.alive, enemies.is_sub, enemies.x, enemies.row, state.f_bullets
        )
        enemies = enemies._replace(alive=enemies.alive & ~shot)
        divers, diver_count = _update_divers(divers, state)
        met, bullets, is_hit = compute_once(enemies_collide, enemies, bullets, state.sub_x, state.sub_y)
        enemies = move_enemies(enemies, met, state.move_speed)

        state = state.replace(
            terminal=is_hit,
            shot_timer=jnp.maximum(state.shot_timer - 1, 0),
            e_spawn_timer=jnp.where(state.e_spawn_timer == 0, state.e_spawn_speed, state.e_spawn_timer) - 1,
            d_spawn_timer=jnp.where(state.d_spawn_timer == 0, _DIVER_SPAWN_SPEED, state.d_spawn_timer) - 1,
            diver_count=diver_count,
            f_bullets=bullets,
            divers=divers,
            enemies=enemies,
        )
        state, surfaces = _use_oxygen(state)
        rescues = surfaces & (diver_count == _MAX_DIVERS)
        reward = lax.population_count(shot | met).astype(jnp.int32)
        reward = reward + jnp.where(rescues, oxygen_cells(state.oxygen), 0)
        if self.difficulty_ramping:
            state = _ramp(state, surfaces)
        state = state.replace(
            oxygen=jnp.where(surfaces, _MAX_OXYGEN, state.oxygen),
            diver_count=jnp.where(rescues, 0, diver_count) - _int(surfaces),
        )
        return state, reward.astype(jnp.float32)

    def observe(self, state: SeaquestState, params: MinAtarParams) -> jax.Array:
        water = compute_once(_water, state.enemies, state.divers)
        first, second = compute_once(lambda words: [jnp.pad(word, 1) for word in words], water)  # only vectorizes alone
        third = compute_once(_player_and_gauges, state.replace(time=None, divers=None, enemies=None))
        return expand_once(_expand, first, second, third)

    def paint(self, state: SeaquestState, height: int) -> jax.Array:
        from envcore_minatar.render import paint_seaquest

        return paint_seaquest(
            height,
            (state.sub_x, state.sub_y, state.sub_or),
            state.shot_timer,
            state.oxygen,
            state.diver_count,
            *visible_things(state),
            cool_down=_SHOT_COOL_DOWN,
            max_oxygen=_MAX_OXYGEN,
            max_divers=_MAX_DIVERS,
        )


def _spawn_enemy(state: SeaquestState, draws: SeaquestDraws) -> Enemies:
    spawned = Enemy(
        alive=jnp.bool_(True),
        is_sub=draws.enemy_is_sub,
        right=draws.enemy_right,
        x=_spawn_column(draws.enemy_right),
        row=draws.enemy_row,
        move_timer=state.move_speed,
        shot_timer=jnp.int32(SHOT_INTERVAL),
        bullet=jnp.bool_(False),
        bullet_x=jnp.int32(0),
    )
    enemies = state.enemies
    changed, first = compute_once(
        places_to_spawn,
        enemies.alive,
        enemies.right,
        enemies.row,
        enemies.bullet,
        state.e_spawn_timer == 0,
        spawned,
    )
    return packing.insert(enemies, changed, first)


def _spawn_diver(state: SeaquestState, draws: SeaquestDraws) -> list[Diver]:
    spawned = Diver(
        exists=jnp.bool_(True),
        right=draws.diver_right,
        x=_spawn_column(draws.diver_right),
        row=draws.diver_row,
        move_timer=jnp.int32(_DIVER_MOVE_INTERVAL),
    )
    return insert_first(split_divers(state.divers), state.d_spawn_timer == 0, spawned)


def _resolve_action(state: SeaquestState, action: jax.Array) -> SeaquestState:
    """The player shoots or moves."""
    fires = (action == FIRE) & (state.shot_timer == 0)
    left, right = action == LEFT, action == RIGHT
    shot = Bullet(exists=jnp.bool_(True), right=state.sub_or, x=state.sub_x, y=state.sub_y)
    x = state.sub_x + _int(right) - _int(left)
    y = state.sub_y + _int(action == DOWN) - _int(action == UP)
    return state.replace(
        sub_x=jnp.clip(x, 0, SIDE - 1),
        sub_y=jnp.clip(y, 0, SIDE - 2),
        sub_or=(state.sub_or | right) & ~left,
        shot_timer=jnp.where(fires, _SHOT_COOL_DOWN, state.shot_timer),
        last_action=action,
        f_bullets=join_bullets(insert_first(split_bullets(state.f_bullets), fires, shot)),
    )


def _update_divers(divers: list[Diver], state: SeaquestState) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
    """Picks up divers that the player meets, before or after they move, while there is room, the newest first."""
    count = state.diver_count
    left: list[Diver] = []
    for diver in divers:
        moves = diver.move_timer == 0
        x = jnp.where(moves, diver.x + ahead(diver.right), diver.x)
        is_met = (diver.row + 1 == state.sub_y) & ((diver.x == state.sub_x) | (x == state.sub_x))
        boards = diver.exists & is_met & (count < _MAX_DIVERS)
        count = count + _int(boards)
        stays = diver.exists & ~boards & (x >= 0) & (x < SIDE)
        timer = jnp.where(moves, _DIVER_MOVE_INTERVAL, diver.move_timer - 1)
        left.append(diver._replace(exists=stays, x=x, move_timer=timer))
    return join_divers(left), count


def _use_oxygen(state: SeaquestState) -> tuple[SeaquestState, jax.Array]:
    """Updates the oxygen. Refills it if the player surfaces, which ends the game without a diver."""
    dives = state.sub_y > 0
    arrives = ~dives & ~state.surface
    surfaces = arrives & (state.diver_count != 0)
    after = state.replace(
        oxygen=state.oxygen - _int(dives),
        surface=~dives & (state.surface | surfaces),
        terminal=state.terminal | (state.oxygen <= 0) | (arrives & ~surfaces),
    )
    return after, surfaces


def _ramp(state: SeaquestState, surfaces: jax.Array) -> SeaquestState:
    spawn_faster = surfaces & (state.e_spawn_speed > _LAST_SPAWN_SPEED)
    is_slow = surfaces & (state.move_speed > _LAST_MOVE_SPEED)
    return state.replace(
        e_spawn_speed=state.e_spawn_speed - _int(spawn_faster),
        move_speed=state.move_speed - _int(is_slow & ((state.ramp_index & 1) == 1)),
        ramp_index=state.ramp_index + _int(spawn_faster | is_slow),
    )


def _spawn_column(right: jax.Array) -> jax.Array:
    return jnp.where(right, 0, SIDE - 1)


def _int(flag: jax.Array) -> jax.Array:
    return flag.astype(jnp.int32)


# Enemies, all at once, as bits of words (see `packing`).


def places_to_spawn(
    alive: jax.Array, right: jax.Array, row: Number, bullet: jax.Array, due: jax.Array, spawned: Enemy
) -> tuple[jax.Array, jax.Array]:
    """Returns the arguments of `packing.insert` for a new enemy. It doesn't spawn against another one's direction."""
    opposing = alive & packing.equal(row, spawned.row) & (right ^ packing.fill(spawned.right))
    return packing.places_that_change(alive | bullet, due & (opposing == 0)), join(spawned, ENEMY_BITS)


def bullets_hit(
    alive: jax.Array, is_sub: jax.Array, x: Number, row: Number, bullets: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Moves the player's bullets, the newest first. Each hits the oldest fish in its cell, or else a submarine.

    Returns the mask of enemies that are hit, and the remaining bullets.

    The original removes the first equal item from a list. Only a bullet that hits can have an equal one: an older
    bullet in the cell that it moved to. The older one is removed, and the newer one moves again, to where the older one
    would have moved.
    """
    before = alive
    left: list[Bullet] = []
    for bullet in split_bullets(bullets):
        bullet_x = jnp.where(bullet.right, bullet.x + 1, bullet.x - 1)
        flies = bullet.exists & (bullet_x >= 0) & (bullet_x < SIDE)
        here = alive & _at(x, row, bullet_x, bullet.y) & packing.fill(flies)
        fish = here & ~is_sub
        hit = packing.last(jnp.where(fish != 0, fish, here))
        alive = alive ^ hit
        left.append(bullet._replace(x=bullet_x, exists=flies & (hit == 0)))
    return before ^ alive, join_bullets(left)


def enemies_collide(
    enemies: Enemies, bullets: jax.Array, sub_x: jax.Array, sub_y: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Finds what the enemies and their bullets hit, before and after they move.

    Returns the mask of enemies that die by moving into a bullet, the player's remaining bullets, and whether the player
    is hit. Submarines move before fish, and the newest first. If several move into a bullet, the newest submarine takes
    it, or else the newest fish. An enemy that hits the player takes no bullet.
    """
    moves, x = _move(enemies)
    near = _in_row(enemies.row, sub_y)
    rams = moves & near & packing.equal(x, sub_x)
    touches = rams | (enemies.alive & near & packing.equal(enemies.x, sub_x))
    for bullet, bullet_x in _enemy_bullets(enemies, moves, x):
        touches = touches | (bullet & near & packing.equal(bullet_x, sub_x))

    before = exposed = moves & ~rams & ~_outside(x)
    left: list[Bullet] = []
    for bullet in reversed(split_bullets(bullets)):
        here = exposed & _at(x, enemies.row, bullet.x, bullet.y) & packing.fill(bullet.exists)
        subs = here & enemies.is_sub
        hit = packing.first(jnp.where(subs != 0, subs, here))
        exposed = exposed ^ hit
        left.append(bullet._replace(exists=bullet.exists & (hit == 0)))
    return before ^ exposed, join_bullets(left[::-1]), touches != 0


def move_enemies(enemies: Enemies, dead: jax.Array, move_speed: jax.Array) -> Enemies:
    """Returns the enemies after their moves and shots. The `dead` ones, which moved into a bullet, still shoot."""
    moves, x = _move(enemies)
    fires = _fires(enemies)
    _, (bullet, bullet_x) = _enemy_bullets(enemies, moves, x)
    return enemies._replace(
        alive=enemies.alive & ~dead & ~(moves & _outside(x)),
        x=x,
        move_timer=packing.put(packing.decrease(enemies.move_timer, ~moves), moves, move_speed),
        shot_timer=packing.put(packing.decrease(enemies.shot_timer, ~fires), fires, SHOT_INTERVAL),
        bullet=bullet & ~_outside(bullet_x),
        bullet_x=bullet_x,
    )


def enemy_rows(enemies: Enemies) -> tuple[jax.Array, jax.Array]:
    """Returns the enemies' cells: uint32 (8,) with ten bits each of trails, bullets and fish, and one of submarines."""
    in_row = packing.equal(enemies.row, np.arange(NUM_ROWS, dtype=np.int32))
    none = enemies.alive ^ enemies.alive
    at = [none, *(enemies.alive & packing.equal(enemies.x, x) for x in range(SIDE)), none]
    behind = [(at[x + 2] & enemies.right) | (at[x] & ~enemies.right) for x in range(SIDE)]
    bullets = [enemies.bullet & packing.equal(enemies.bullet_x, x) for x in range(SIDE)]
    fish = [mask & ~enemies.is_sub for mask in at[1:-1]]
    subs = [mask & enemies.is_sub for mask in at[1:-1]]

    def board(columns: list[jax.Array]) -> jax.Array:
        # The minimum is zero if there is none. It vectorizes, unlike a comparison.
        found = [jnp.minimum(in_row & column, np.uint32(1)) for column in columns]
        return packing.union([lax.shift_left(cell, np.uint32(x)) for x, cell in enumerate(found)])

    return board([*behind, *bullets, *fish]), board(subs)


def _in_row(row: Number, y: jax.Array) -> jax.Array:
    return packing.equal(row, y - 1) & packing.fill(y > 0)


def _at(x: Number, row: Number, at_x: jax.Array, at_y: jax.Array) -> jax.Array:
    return packing.equal(x, at_x) & _in_row(row, at_y)


def _outside(x: Number) -> jax.Array:
    """Returns the objects with x of 10 or 11, or of -1 or -2, which are 15 and 14 in four bits."""
    return x[3] & x[1]


def _advance(enemies: Enemies, x: Number, mask: jax.Array) -> Number:
    """Moves the columns of the mask by one cell, each in its enemy's direction, and returns all columns."""
    return packing.decrease(packing.increase(x, mask & enemies.right), mask & ~enemies.right)


def _move(enemies: Enemies) -> tuple[jax.Array, Number]:
    """Returns the mask of the enemies that move, and all columns after the move."""
    moves = enemies.alive & packing.equal(enemies.move_timer, 0)
    return moves, _advance(enemies, enemies.x, moves)


def _fires(enemies: Enemies) -> jax.Array:
    return enemies.alive & enemies.is_sub & packing.equal(enemies.shot_timer, 0)


def _enemy_bullets(enemies: Enemies, moves: jax.Array, x: Number) -> list[tuple[jax.Array, Number]]:
    """Returns the enemies' bullets after the submarines have shot and the bullets have moved.

    A submarine that has left the board still shoots, from outside and outward.
    """
    fires = _fires(enemies)
    bullet = enemies.bullet | fires
    bullet_x = packing.select(fires, x, enemies.bullet_x)
    return [(bullet, bullet_x), (bullet, _advance(enemies, bullet_x, bullet))]


# The observation: three words of bits per row, and a mask for each cell and word.


def visible_things(state: SeaquestState) -> tuple[tuple[jax.Array, ...], ...]:
    """Returns the player's bullets, the divers in the water and the enemies, in the form that the picture uses."""
    bullets, divers = split_bullets(state.f_bullets), split_divers(state.divers)
    exist, right, x, y = (jnp.stack(each) for each in zip(*bullets, strict=True))
    diver_exists, diver_right, diver_x, diver_row, _ = (jnp.stack(each) for each in zip(*divers, strict=True))
    enemies = state.enemies
    alive, is_sub, to_right, has_bullet = (
        packing.to_values((mask,)) == 1 for mask in (enemies.alive, enemies.is_sub, enemies.right, enemies.bullet)
    )
    columns, rows, bullet_x = (packing.to_values(number) for number in (enemies.x, enemies.row, enemies.bullet_x))
    return (
        (exist, right, x, y),
        (diver_exists, diver_right, diver_x, diver_row + 1),
        (alive, is_sub, to_right, columns, rows + 1, has_bullet, bullet_x),
    )


def oxygen_cells(oxygen: jax.Array) -> jax.Array:
    """Returns the number of cells in the gauge: oxygen * 10 // 200, for oxygen from -2 on."""
    return lax.div(oxygen + _OXYGEN_A_CELL, jnp.full_like(oxygen, _OXYGEN_A_CELL)) - 1


def ahead(right: jax.Array) -> jax.Array:
    return jnp.where(right, 1, -1)


def _water(enemies: Enemies, divers: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
    """Returns the rows of the water, two words each: uint32 (8,), see `SHOWN`."""
    first, second = enemy_rows(enemies)
    for diver in split_divers(divers):
        trail = jnp.where(diver.exists, bit(diver.x - ahead(diver.right)) & FULL_ROW, NO_WORD)
        first = first | _word_in_row(NUM_ROWS, diver.row, trail)
        second = second | _word_in_row(NUM_ROWS, diver.row, jnp.where(diver.exists, bit(10 + diver.x), NO_WORD))
    return first, second


def _player_and_gauges(state: SeaquestState) -> jax.Array:
    """Returns the third word of each row: uint32 (10,)."""
    # The back is always on the board, because the player faces away from the side that it came from.
    front, back = bit(state.sub_x), bit(10 + state.sub_x - ahead(state.sub_or))
    shown = _word_in_row(SIDE, state.sub_y, front | back)
    for bullet in split_bullets(state.f_bullets):
        shown = shown | _word_in_row(SIDE, bullet.y, jnp.where(bullet.exists, bit(20 + bullet.x), NO_WORD))
    oxygen = bit(oxygen_cells(jnp.maximum(state.oxygen, 0))) - np.uint32(1)
    divers = bit(19) - bit(19 - jnp.maximum(state.diver_count, 0))  # from the right, empty for a negative count
    return shown | _word_in_row(SIDE, jnp.int32(SIDE - 1), oxygen | divers)


def _word_in_row(num_rows: int, row: jax.Array, word: jax.Array) -> jax.Array:
    """Returns `word` in one row and zeros elsewhere. Uses arithmetic because comparisons don't vectorize."""
    rows = np.arange(num_rows, dtype=np.uint32)
    return (jnp.minimum(rows ^ row.astype(jnp.uint32), np.uint32(1)) - np.uint32(1)) & word


def _expand(water: jax.Array, others: jax.Array, player: jax.Array) -> jax.Array:
    """Returns the cells that each row's three words show: bool (10, 100), columns before channels."""
    masks = np.zeros((3, SIDE, SIDE, len(SHOWN)), np.uint32)
    for channel, (word, first, rows) in enumerate(SHOWN.values()):
        masks[word, rows, :, channel] = 1 << first + np.arange(SIDE)
    masks = masks.reshape(3, SIDE, -1)
    words = (water, others, player)
    return packing.union([word[:, None] & mask for word, mask in zip(words, masks, strict=True)]) != 0


# Bullets and divers, packed into the bits of words.


def split_bullets(word: jax.Array) -> list[Bullet]:
    """Unpacks the player's bullets, the newest first."""
    return [Bullet(*_split(part, _BULLET_BITS)) for part in _split(word, (sum(_BULLET_BITS),) * _NUM_BULLETS)]


def join_bullets(bullets: list[Bullet]) -> jax.Array:
    """Packs the player's bullets, the inverse of `split_bullets`."""
    return join([_word(bullet, _BULLET_BITS) for bullet in bullets], (sum(_BULLET_BITS),) * _NUM_BULLETS)


def split_divers(words: tuple[jax.Array, jax.Array]) -> list[Diver]:
    """Unpacks the divers in the water, the newest first."""
    return [
        Diver(*_split(part, _DIVER_BITS))
        for word in words
        for part in _split(word, (sum(_DIVER_BITS),) * (_NUM_DIVERS // 2))
    ]


def join_divers(divers: list[Diver]) -> tuple[jax.Array, jax.Array]:
    """Packs the divers in the water, the inverse of `split_divers`."""
    newest, second, third, oldest = (_word(diver, _DIVER_BITS) for diver in divers)
    widths = (sum(_DIVER_BITS),) * 2
    return join([newest, second], widths), join([third, oldest], widths)


def join(numbers: Sequence[ArrayLike], widths: Sequence[int]) -> jax.Array:
    """Packs numbers into a word, each in as many bits as its width, starting at the lowest bit."""
    shifts = np.cumsum([0, *widths[:-1]]).astype(np.uint32)
    words = [jnp.asarray(number).astype(jnp.uint32) for number in numbers]
    return packing.union([lax.shift_left(word, shift) for word, shift in zip(words, shifts, strict=True)])


def insert_first(items: list[ItemT], enters: jax.Array, new: ItemT) -> list[ItemT]:
    """Inserts an item in front where it `enters`. Items before the first free slot move up by one, into that slot."""
    found: list[ItemT] = []
    for item in items:
        found.append(jax.tree.map(lambda x, y, enters=enters: jnp.where(enters, x, y), new, item))
        new, enters = item, enters & item.exists
    return found


def _split(word: jax.Array, widths: Sequence[int]) -> list[jax.Array]:
    """Unpacks a word, the inverse of `join`: bools from single bits, else int32."""
    shifts = np.cumsum([0, *widths[:-1]]).astype(np.uint32)
    parts = [
        lax.shift_right_logical(word.astype(jnp.uint32), shift) & np.uint32(2**width - 1)
        for width, shift in zip(widths, shifts, strict=True)
    ]
    return [part != 0 if width == 1 else part.astype(jnp.int32) for width, part in zip(widths, parts, strict=True)]


def _word(item: Bullet | Diver, widths: Sequence[int]) -> jax.Array:
    """Returns the bits of an item, or zeros if it doesn't exist."""
    return jnp.where(item.exists, join(item, widths), NO_WORD)
