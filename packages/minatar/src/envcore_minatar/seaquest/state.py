"""The state of Seaquest, which replaces the original's five lists.

Enemies are bits of words (see `slots`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np
from jax import lax

from envcore_minatar import bit_fields, slots
from envcore_minatar.bit_fields import Word, bits
from envcore_minatar.game import MinAtarState

NO_WORD = np.uint32(0)


@bit_fields.dataclass
class Bullet(Word):
    """A bullet of the player, or all zeros if there is none."""

    flies = bits(1, "There is a bullet.")
    right = bits(1, "It flies to the right.")
    x = bits(4, "Column.")
    y = bits(4, "Row.")


@bit_fields.dataclass
class Diver(Word):
    """A diver in the water, or all zeros if there is none."""

    swims = bits(1, "There is a diver.")
    right = bits(1, "It swims to the right.")
    x = bits(4, "Column.")
    row = bits(3, "Row, less one.")
    move_timer = bits(3, "Steps until it moves.")


class Enemies(NamedTuple):
    """Masks and numbers (see `slots`) of 32 places for enemies, the newest first.

    The original keeps a list of fish, one of submarines and one of their bullets. The order of the first two decides
    who is hit where several share a cell, and is kept. The order of the bullets decides nothing. A submarine's last
    bullet has left the board when it shoots again, 11 steps later, so its place has room for one, which stays if the
    submarine dies. The bullet has the submarine's row and direction, and is faster: it leaves before the submarine
    would.

    So a place is taken for no longer than an enemy lives, 10 * (move_speed + 1) steps, and 32 places are enough.
    Enemies spawn e_spawn_speed steps apart, at least. `move_speed` is 2 by the time that e_spawn_speed is 14. Of those
    that spawned until then at most five are left, and they are gone 36 steps later; at most 15 spawn in the meantime,
    as e_spawn_speed falls once in two steps at most. All others live for 30 steps, so there are never more than 30.
    """

    alive: Any
    is_sub: Any
    right: Any  # moves to the right
    x: Any
    row: Any  # y - 1
    move_timer: Any
    shot_timer: Any  # of submarines
    bullet: Any  # has a bullet on the board
    bullet_x: Any


@bit_fields.dataclass
class SpawnedEnemy(Word):
    """An enemy that spawns: the bits of the first fields of `Enemies`, in their order; the others are zero."""

    alive = bits(1, "It is there.")
    is_sub = bits(1, "It is a submarine.")
    right = bits(1, "It moves to the right.")
    x = bits(4, "Column.")
    row = bits(3, "Row, less one.")
    move_timer = bits(3, "Steps until it moves.")
    shot_timer = bits(4, "Steps until it shoots, if it is a submarine.")


NO_ENEMIES = Enemies(
    alive=NO_WORD,
    is_sub=NO_WORD,
    right=NO_WORD,
    x=(NO_WORD,) * 4,
    row=(NO_WORD,) * 3,
    move_timer=(NO_WORD,) * 3,
    shot_timer=(NO_WORD,) * 4,
    bullet=NO_WORD,
    bullet_x=(NO_WORD,) * 4,
)

# Shots are 5 steps apart and leave the board in 10, divers come every 30 steps and leave in 60: there are two of each
# at most. The recordings' constructed states have a bullet and two divers more.
_NUM_BULLETS, _BULLET_BITS = 3, 10
_NUM_DIVERS, _DIVER_BITS = 4, 12


@bit_fields.dataclass
class SeaquestState(MinAtarState):
    """State of `Seaquest`. Rows count from the top, columns from the left, from 0 to 9.

    Attributes:
      packed: the player, uint32 ().
      pace: the difficulty, and how long until the next enemy and diver spawn; uint32 ().
      diver_count: divers on board, int32 (); below zero after a full rescue, without bound.
      f_bullets: the player's bullets, uint32 (), see `split_bullets`.
      divers: divers in the water, two uint32 (), see `split_divers`.
      enemies: fish, submarines and their bullets: `Enemies`, uint32 () each.
    """

    pace: Any
    diver_count: Any
    f_bullets: Any
    divers: Any
    enemies: Any

    oxygen = bits(8, "Steps that the oxygen lasts, up to 200; int32 (). It falls to -1 in play.", least=-2)
    sub_x = bits(4, "Column of the player, int32 ().")
    sub_y = bits(4, "Row of the player, int32 ().")
    sub_or = bits(1, "The player faces right, bool ().")
    shot_timer = bits(3, "Steps until the player can shoot, int32 ().")
    surface = bits(1, "The player has not dived since it last surfaced, bool ().")

    e_spawn_speed = bits(5, "Steps from one enemy to the next, int32 ().", word="pace")
    e_spawn_timer = bits(5, "Steps until an enemy spawns, int32 ().", word="pace")
    d_spawn_timer = bits(5, "Steps until a diver spawns, int32 ().", word="pace")
    move_speed = bits(3, "Steps from one move of an enemy to the next, less one; int32 ().", word="pace")
    ramp_index = bits(5, "How often the difficulty has risen, int32 ().", word="pace")


def split_bullets(word: jax.Array) -> list[Bullet]:
    """The player's bullets, the newest first."""
    return [Bullet(_field(word, i, _BULLET_BITS)) for i in range(_NUM_BULLETS)]


def join_bullets(bullets: list[Bullet]) -> jax.Array:
    """The inverse of `split_bullets`."""
    return slots.union([lax.shift_left(bullet.packed, np.uint32(_BULLET_BITS * i)) for i, bullet in enumerate(bullets)])


def split_divers(words: tuple[jax.Array, jax.Array]) -> list[Diver]:
    """The divers in the water, the newest first."""
    return [Diver(_field(word, i, _DIVER_BITS)) for word in words for i in range(2)]


def join_divers(divers: list[Diver]) -> tuple[jax.Array, jax.Array]:
    """The inverse of `split_divers`."""
    newest, second, third, oldest = (diver.packed for diver in divers)
    shift = np.uint32(_DIVER_BITS)
    return newest | lax.shift_left(second, shift), third | lax.shift_left(oldest, shift)


def _field(word: jax.Array, index: int, width: int) -> jax.Array:
    return lax.shift_right_logical(word, np.uint32(width * index)) & np.uint32(2**width - 1)
