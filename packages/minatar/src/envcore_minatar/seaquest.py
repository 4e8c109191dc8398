"""Seaquest-MinAtar: steer a submarine, shoot fish and submarines, and bring up divers before the oxygen runs out.

Original: MinAtar 1.0.15 `environments/seaquest.py` played through `Environment`, Young & Tian (2019), "MinAtar: an
Atari-inspired testbed for thorough and reproducible reinforcement learning experiments".

The player moves one cell a step between the surface, row 0, and row 8, and may shoot every fifth step; a bullet flies
one cell a step and kills the first enemy that it or that runs into it. Enemies come from either side into rows 1 to 8,
every 20 steps at first, a third of them submarines; none enters a row where one comes the other way. They move every
sixth step at first, and submarines shoot every eleventh. A diver comes every 30 steps and moves every sixth; the player
picks up those it meets, six at most. A touch of an enemy or its bullet ends the episode.

Under water the oxygen falls by one a step. At the surface it is filled up, to 200, at the price of a diver; six divers
are brought up at once, for a reward, and leave the count at -1. Surfacing with exactly none ends the episode, with less
than none it does not. With `difficulty_ramping` enemies come a step more often with every surfacing, down to every
step, and move a step faster with every second one, down to every third step.

With probability `sticky_action_prob` a step executes the action executed last, in place of the one given.

Observation: bool (10, 10, 10), rows and columns of the player's front and back, its bullets, the last places of
  enemies and divers, enemy bullets, fish, submarines, a gauge of oxygen, a gauge of divers on board, divers.
Action: 0 nothing, 1 left, 2 up, 3 right, 4 down, 5 fire; the full set has the same six.
Reward: 1 for an enemy shot; up to 10 for six divers brought up, one for 20 of oxygen left, rounded down.
Termination: the player is hit, is out of oxygen, or surfaces with exactly no diver. A step after that changes nothing.
  There is no time limit.

Deviations: none. As in the original, the action executed last survives a reset.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random
from envcore.fusion import compute_once
from jax import lax

from envcore_minatar import seaquest_enemies, slots
from envcore_minatar.game import DOWN, FIRE, LEFT, NOTHING, RIGHT, UP, Game, MinAtarParams
from envcore_minatar.packing import SIDE
from envcore_minatar.seaquest_enemies import NUM_ROWS
from envcore_minatar.seaquest_state import (
    BULLET,
    DIVER,
    LAYOUT,
    NEWCOMER,
    NO_ENEMIES,
    NO_WORD,
    PACE,
    Bullet,
    Diver,
    Enemies,
    Newcomer,
    SeaquestFields,
    SeaquestPace,
    SeaquestState,
    from_original,
    join_bullets,
    join_divers,
    split_bullets,
    split_divers,
    to_original,
)
from envcore_minatar.seaquest_view import SHOWN, ahead, observe_sea, oxygen_cells

__all__ = ["Seaquest", "SeaquestDraws", "SeaquestState", "from_original", "to_original"]

_MAX_OXYGEN = 200
_MAX_DIVERS = 6
_DIVER_SPAWN_SPEED, _DIVER_MOVE_INTERVAL = 30, 5
_SHOT_COOL_DOWN = 5
_FIRST_SPAWN_SPEED, _LAST_SPAWN_SPEED = 20, 1
_FIRST_MOVE_SPEED, _LAST_MOVE_SPEED = 5, 2


class SeaquestDraws(NamedTuple):
    """What is random in a step: the enemy and the diver that enter, if it is time."""

    enemy_right: Any  # bool, from the left and to the right
    enemy_is_sub: Any  # bool
    enemy_row: Any  # y - 1
    diver_right: Any  # bool
    diver_row: Any  # y - 1


@dataclasses.dataclass(frozen=True)
class Seaquest(Game[SeaquestState, SeaquestDraws]):
    """Seaquest-MinAtar; see the module for its rules."""

    minimal_actions = (NOTHING, LEFT, UP, RIGHT, DOWN, FIRE)
    channels = tuple(SHOWN)
    layout = LAYOUT
    num_words = 1

    def init_state(self, key: jax.Array, params: MinAtarParams) -> SeaquestState:
        player = SeaquestFields(_MAX_OXYGEN + 2, SIDE // 2, 0, False, 0, True, False, NOTHING)
        pace = SeaquestPace(_FIRST_SPAWN_SPEED, _FIRST_SPAWN_SPEED, _DIVER_SPAWN_SPEED, _FIRST_MOVE_SPEED, 0)
        return SeaquestState(
            packed=LAYOUT.pack(player),
            pace=PACE.pack(pace),
            diver_count=np.int32(0),
            f_bullets=NO_WORD,
            divers=(NO_WORD, NO_WORD),
            enemies=NO_ENEMIES,
        )

    def draw(self, words: jax.Array) -> SeaquestDraws:
        right, kind, row, diver_right, diver_row = random.digits(words[0], 2, 3, NUM_ROWS, 2, NUM_ROWS)
        return SeaquestDraws(right == 1, kind == 0, row, diver_right == 1, diver_row)

    def execute(self, state: SeaquestState, action: jax.Array, draws: SeaquestDraws) -> tuple[SeaquestState, jax.Array]:
        # Stored, or XLA computes the action again, from random words on, for each of thirty leaves.
        return super().execute(state, compute_once(lambda action: action, action), draws)

    def play(self, state: SeaquestState, action: jax.Array, draws: SeaquestDraws) -> tuple[SeaquestState, jax.Array]:
        player, pace = LAYOUT.unpack(state.packed), PACE.unpack(state.pace)
        enemies = _enemy_enters(state.enemies, pace, draws)
        divers = _diver_enters(state.divers, pace, draws)
        player, bullets = _act(player, state.f_bullets, action)
        shot, bullets = compute_once(
            seaquest_enemies.are_shot, enemies.alive, enemies.is_sub, enemies.x, enemies.row, bullets
        )
        enemies = enemies._replace(alive=enemies.alive & ~shot)
        divers, diver_count = _move_divers(divers, state.diver_count, player)
        met, bullets, is_hit = compute_once(seaquest_enemies.meet, enemies, bullets, player.sub_x, player.sub_y)
        enemies = seaquest_enemies.after_moves(enemies, met, pace.move_speed)

        player = player._replace(shot_timer=jnp.maximum(player.shot_timer - 1, 0), terminal=is_hit)
        pace = pace._replace(
            e_spawn_timer=jnp.where(pace.e_spawn_timer == 0, pace.e_spawn_speed, pace.e_spawn_timer) - 1,
            d_spawn_timer=jnp.where(pace.d_spawn_timer == 0, _DIVER_SPAWN_SPEED, pace.d_spawn_timer) - 1,
        )
        player, surfaces = _breathe(player, diver_count)
        rescues = surfaces & (diver_count == _MAX_DIVERS)
        reward = lax.population_count(shot | met).astype(jnp.int32)
        reward = reward + jnp.where(rescues, oxygen_cells(player.air - 2), 0)
        if self.difficulty_ramping:
            pace = _ramp(pace, surfaces)
        after = state.replace(
            packed=compute_once(LAYOUT.pack, player._replace(air=jnp.where(surfaces, _MAX_OXYGEN + 2, player.air))),
            pace=PACE.pack(pace),
            diver_count=jnp.where(rescues, 0, diver_count) - _int(surfaces),
            f_bullets=bullets,
            divers=divers,
            enemies=enemies,
        )
        return after, reward.astype(jnp.float32)

    def observe(self, state: SeaquestState, params: MinAtarParams) -> jax.Array:
        return observe_sea(state)


def _enemy_enters(enemies: Enemies, pace: SeaquestPace, draws: SeaquestDraws) -> Enemies:
    newcomer = Newcomer(
        alive=True,
        is_sub=draws.enemy_is_sub,
        right=draws.enemy_right,
        x=_entrance(draws.enemy_right),
        row=draws.enemy_row,
        move_timer=pace.move_speed,
        shot_timer=seaquest_enemies.SHOT_INTERVAL,
    )
    changed, bits = compute_once(
        seaquest_enemies.entry,
        enemies.alive,
        enemies.right,
        enemies.row,
        enemies.bullet,
        pace.e_spawn_timer == 0,
        NEWCOMER.pack(newcomer),
    )
    return slots.insert(enemies, changed, bits)


def _diver_enters(divers: tuple[jax.Array, jax.Array], pace: SeaquestPace, draws: SeaquestDraws) -> list[jax.Array]:
    x = _entrance(draws.diver_right)
    newcomer = Diver(True, draws.diver_right, x, draws.diver_row, jnp.int32(_DIVER_MOVE_INTERVAL))
    return _put_first(split_divers(divers), pace.d_spawn_timer == 0, DIVER.pack(newcomer))


def _act(player: SeaquestFields, bullets: jax.Array, action: jax.Array) -> tuple[SeaquestFields, jax.Array]:
    """The player shoots or moves."""
    fires = (action == FIRE) & (player.shot_timer == 0)
    left, right = action == LEFT, action == RIGHT
    shot = BULLET.pack(Bullet(True, player.sub_or, player.sub_x, player.sub_y))
    x = player.sub_x + _int(right) - _int(left)
    y = player.sub_y + _int(action == DOWN) - _int(action == UP)
    player = player._replace(
        sub_x=jnp.clip(x, 0, SIDE - 1),
        sub_y=jnp.clip(y, 0, SIDE - 2),
        sub_or=(player.sub_or | right) & ~left,
        shot_timer=jnp.where(fires, _SHOT_COOL_DOWN, player.shot_timer),
        last_action=action,
    )
    return player, join_bullets(_put_first(split_bullets(bullets), fires, shot))


def _move_divers(
    divers: list[jax.Array], count: jax.Array, player: SeaquestFields
) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
    """Those whom the player meets, before or after they move, come on board while there is room, the newest first."""
    left: list[jax.Array] = []
    for diver in map(DIVER.unpack, divers):
        moves = diver.move_timer == 0
        x = jnp.where(moves, diver.x + ahead(diver.right), diver.x)
        is_met = (diver.row + 1 == player.sub_y) & ((diver.x == player.sub_x) | (x == player.sub_x))
        boards = diver.swims & is_met & (count < _MAX_DIVERS)
        count = count + _int(boards)
        stays = diver.swims & ~boards & (x >= 0) & (x < SIDE)
        timer = jnp.where(moves, _DIVER_MOVE_INTERVAL, diver.move_timer - 1)
        left.append(jnp.where(stays, DIVER.pack(diver._replace(x=x, move_timer=timer)), NO_WORD))
    return join_divers(left), count


def _breathe(player: SeaquestFields, diver_count: jax.Array) -> tuple[SeaquestFields, jax.Array]:
    """Oxygen falls under water; returns whether the player surfaces, too, and fills up. Without a diver it cannot."""
    dives = player.sub_y > 0
    arrives = ~dives & ~player.surface
    surfaces = arrives & (diver_count != 0)
    terminal = player.terminal | (player.air <= 2) | (arrives & ~surfaces)
    player = player._replace(
        air=player.air - _int(dives), surface=~dives & (player.surface | surfaces), terminal=terminal
    )
    return player, surfaces


def _ramp(pace: SeaquestPace, surfaces: jax.Array) -> SeaquestPace:
    enter_faster = surfaces & (pace.e_spawn_speed > _LAST_SPAWN_SPEED)
    is_slow = surfaces & (pace.move_speed > _LAST_MOVE_SPEED)
    return pace._replace(
        e_spawn_speed=pace.e_spawn_speed - _int(enter_faster),
        move_speed=pace.move_speed - _int(is_slow & ((pace.ramp_index & 1) == 1)),
        ramp_index=pace.ramp_index + _int(enter_faster | is_slow),
    )


def _put_first(words: list[jax.Array], enters: jax.Array, newcomer: jax.Array) -> list[jax.Array]:
    """Puts a newcomer first where it `enters`; those before the first word of zero move up by one, into it."""
    found: list[jax.Array] = []
    for word in words:
        found.append(jnp.where(enters, newcomer, word))
        newcomer, enters = word, enters & (word != 0)
    return found


def _entrance(right: jax.Array) -> jax.Array:
    return jnp.where(right, 0, SIDE - 1)


def _int(flag: jax.Array) -> jax.Array:
    return flag.astype(jnp.int32)
