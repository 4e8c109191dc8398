"""Seaquest-MinAtar, after MinAtar 1.0.15 `environments/seaquest.py`."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
from envcore import spaces
from envcore.fusion import compute_once
from envcore.typing import Bool, Int
from jax import lax

from envcore_minatar import slots
from envcore_minatar.game import DOWN, FIRE, FLAG, LEFT, NOTHING, PLACE, RIGHT, UP, Game, MinAtarParams, digits, up_to
from envcore_minatar.packing import SIDE
from envcore_minatar.seaquest.enemies import (
    NUM_ROWS,
    SHOT_INTERVAL,
    bullets_hit,
    enemies_collide,
    move_enemies,
    places_to_spawn,
)
from envcore_minatar.seaquest.state import (
    NO_ENEMIES,
    Bullet,
    Diver,
    Enemies,
    Enemy,
    SeaquestState,
    insert_first,
    join_bullets,
    join_divers,
    split_bullets,
    split_divers,
)
from envcore_minatar.seaquest.view import SHOWN, ahead, observe_sea, oxygen_cells, visible_things

_MAX_OXYGEN = 200
_MAX_DIVERS = 6
_DIVER_SPAWN_SPEED, _DIVER_MOVE_INTERVAL = 30, 5
_SHOT_COOL_DOWN = 5
_FIRST_SPAWN_SPEED, _LAST_SPAWN_SPEED = 20, 1
_FIRST_MOVE_SPEED, _LAST_MOVE_SPEED = 5, 2


class SeaquestDraws(NamedTuple):
    """The random draws of a step: the enemy and the diver that spawn if it is time."""

    enemy_right: Bool  # from the left and to the right
    enemy_is_sub: Bool
    enemy_row: Int  # y - 1
    diver_right: Bool
    diver_row: Int  # y - 1


@dataclasses.dataclass(frozen=True)
class Seaquest(Game[SeaquestState, SeaquestDraws]):
    """Seaquest-MinAtar: steer a submarine, shoot fish and submarines, and bring up divers in time.

    Original: MinAtar 1.0.15 `environments/seaquest.py` run through its `Environment`, Young & Tian (2019), "MinAtar: an
      Atari-inspired testbed for thorough and reproducible reinforcement learning experiments".

    The player moves one cell per step between the surface, row 0, and row 8, and may shoot every fifth step. A bullet
    flies one cell per step and kills the first enemy that it hits or that runs into it. Enemies spawn at either side in
    rows 1 to 8, every 20 steps at first, a third of them submarines; none spawns in a row where one moves the other
    way. They move every sixth step at first, and submarines shoot every eleventh. A diver spawns every 30 steps and
    moves every sixth; the player picks up those it meets, six at most. A touch of an enemy or its bullet ends the
    episode.

    Under water the oxygen falls by one per step. Surfacing refills it to 200 and takes one diver. With six divers it
    rescues all six, for a reward, and then still takes one, so the count becomes -1. Surfacing with exactly 0 divers
    ends the episode; with a negative count it does not. With `difficulty_ramping` enemies spawn a step more often with
    every surfacing, down to every step, and move a step faster with every second one, down to every third step.

    With probability `sticky_action_prob` a step repeats the last executed action instead of the given one.

    Observation: bool (10, 10, 10), rows, columns and channels.
      0: the front of the player's submarine
      1: the back of it
      2: the player's bullets
      3: the last places of enemies and divers
      4: the bullets of enemies
      5: fish
      6: submarines of the enemy
      7: a gauge of oxygen in the bottom row, a cell for 20
      8: a gauge of divers on board in the bottom row, a cell for each
      9: divers in the water
    Action: int32 (). The full set has the same six.
      0: nothing, 1: left, 2: up, 3: right, 4: down, 5: fire
    Reward: 1 for an enemy shot; up to 10 for six divers brought up, one for 20 of oxygen left, rounded down.
    Termination: the player is hit, is out of oxygen, or surfaces with exactly 0 divers. A step after that changes
      nothing. There is no time limit.

    Deviations: none. As in the original, the last executed action survives a reset.
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
            "enemies": spaces.Tree(NO_ENEMIES),  # all bits of its words
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
        return observe_sea(state)

    def paint(self, state: SeaquestState, height: int) -> jax.Array:
        from envcore_minatar.render.sea import paint_seaquest

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
    return slots.insert(enemies, changed, first)


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
    """Those whom the player meets, before or after they move, come on board while there is room, the newest first."""
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
    """Oxygen falls under water; returns whether the player surfaces, too, and fills up. Without a diver it cannot."""
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
