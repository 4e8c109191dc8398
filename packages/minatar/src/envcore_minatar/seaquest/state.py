"""The state of Seaquest, which replaces the original's five lists.

Enemies are bits of words (see `slots`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from envcore.typing import Bool, Int
from jax import lax
from jax.typing import ArrayLike

from envcore_minatar import slots, views
from envcore_minatar.game import MinAtarState
from envcore_minatar.packing import Word

NO_WORD = np.uint32(0)


class Bullet(NamedTuple):
    """A place for a bullet of the player; without one its numbers mean nothing."""

    exists: Bool
    right: Bool  # it flies to the right
    x: Int
    y: Int


class Diver(NamedTuple):
    """A place for a diver in the water; without one its numbers mean nothing."""

    exists: Bool
    right: Bool  # it swims to the right
    x: Int
    row: Int  # y - 1
    move_timer: Int


ItemT = TypeVar("ItemT", Bullet, Diver)


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
    """A new enemy: its values of the fields of `Enemies`."""

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
"""The bits of each field of `Enemies`."""
NO_ENEMIES = Enemies._make(NO_WORD if bits == 1 else (NO_WORD,) * bits for bits in ENEMY_BITS)

# Shots are 5 steps apart and leave the board in 10, divers come every 30 steps and leave in 60: there are two of each
# at most. The recordings' constructed states have a bullet and two divers more.
_NUM_BULLETS, _BULLET_BITS = 3, (1, 1, 4, 4)
_NUM_DIVERS, _DIVER_BITS = 4, (1, 1, 4, 3, 3)


@views.dataclass
class SeaquestState(MinAtarState):
    """State of `Seaquest`. Rows count from the top, columns from the left, from 0 to 9.

    Attributes:
      oxygen: steps that the oxygen lasts, up to 200. It falls to -1 in play.
      sub_x: column of the player.
      sub_y: row of the player.
      sub_or: the player faces right.
      shot_timer: steps until the player can shoot.
      surface: the player has not dived since it last surfaced.
      e_spawn_speed: steps from one enemy to the next.
      e_spawn_timer: steps until an enemy spawns.
      d_spawn_timer: steps until a diver spawns.
      move_speed: steps from one move of an enemy to the next, less one.
      ramp_index: how often the difficulty has risen.
      diver_count: divers on board; below zero after a full rescue, without bound.
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


def split_bullets(word: jax.Array) -> list[Bullet]:
    """The player's bullets, the newest first."""
    return [Bullet(*_split(part, _BULLET_BITS)) for part in _split(word, (sum(_BULLET_BITS),) * _NUM_BULLETS)]


def join_bullets(bullets: list[Bullet]) -> jax.Array:
    """The inverse of `split_bullets`."""
    return join([_word(bullet, _BULLET_BITS) for bullet in bullets], (sum(_BULLET_BITS),) * _NUM_BULLETS)


def split_divers(words: tuple[jax.Array, jax.Array]) -> list[Diver]:
    """The divers in the water, the newest first."""
    return [
        Diver(*_split(part, _DIVER_BITS))
        for word in words
        for part in _split(word, (sum(_DIVER_BITS),) * (_NUM_DIVERS // 2))
    ]


def join_divers(divers: list[Diver]) -> tuple[jax.Array, jax.Array]:
    """The inverse of `split_divers`."""
    newest, second, third, oldest = (_word(diver, _DIVER_BITS) for diver in divers)
    widths = (sum(_DIVER_BITS),) * 2
    return join([newest, second], widths), join([third, oldest], widths)


def join(numbers: Sequence[ArrayLike], widths: Sequence[int]) -> jax.Array:
    """A word with these numbers, each in as many bits as its width, the first in the lowest ones."""
    shifts = np.cumsum([0, *widths[:-1]]).astype(np.uint32)
    words = [jnp.asarray(number).astype(jnp.uint32) for number in numbers]
    return slots.union([lax.shift_left(word, shift) for word, shift in zip(words, shifts, strict=True)])


def insert_first(items: list[ItemT], enters: jax.Array, new: ItemT) -> list[ItemT]:
    """Inserts an item first where it `enters`; those before the first free place move up by one, into it."""
    found: list[ItemT] = []
    for item in items:
        found.append(jax.tree.map(lambda x, y, enters=enters: jnp.where(enters, x, y), new, item))
        new, enters = item, enters & item.exists
    return found


def _split(word: jax.Array, widths: Sequence[int]) -> list[jax.Array]:
    """The inverse of `join`: bools from single bits, else int32."""
    shifts = np.cumsum([0, *widths[:-1]]).astype(np.uint32)
    parts = [
        lax.shift_right_logical(word.astype(jnp.uint32), shift) & np.uint32(2**width - 1)
        for width, shift in zip(widths, shifts, strict=True)
    ]
    return [part != 0 if width == 1 else part.astype(jnp.int32) for width, part in zip(widths, parts, strict=True)]


def _word(item: Bullet | Diver, widths: Sequence[int]) -> jax.Array:
    """The bits of an item; zeros where there is none."""
    return jnp.where(item.exists, join(item, widths), NO_WORD)
