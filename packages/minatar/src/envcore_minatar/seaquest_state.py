"""What a state of Seaquest holds, and how it stands for the original's lists.

A module of its own because the original's five lists take many lines here: enemies are bits of words (see `slots`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from envcore_minatar import bit_fields, slots
from envcore_minatar.bit_fields import Word, bits
from envcore_minatar.game import NOTHING, MinAtarState
from envcore_minatar.packing import SIDE
from envcore_minatar.slots import NUM_SLOTS

NO_WORD = np.uint32(0)


@bit_fields.dataclass
class Bullet(Word):
    """A bullet of the player's, or all zeros for none."""

    flies = bits(1, "There is a bullet.")
    right = bits(1, "It flies to the right.")
    x = bits(4, "Column.")
    y = bits(4, "Row.")


@bit_fields.dataclass
class Diver(Word):
    """A diver in the water, or all zeros for none."""

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
    Enemies enter e_spawn_speed steps apart, at least. `move_speed` is 2 by the time that e_spawn_speed is 14. Of those
    that entered until then at most five are left, and they are gone 36 steps later; at most 15 enter in the meantime,
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
class Newcomer(Word):
    """An enemy that enters: the bits of the first fields of `Enemies`, in their order; the others are zero."""

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
      pace: the difficulty, and how long until the next enemy and diver enter; uint32 ().
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
    e_spawn_timer = bits(5, "Steps until an enemy enters, int32 ().", word="pace")
    d_spawn_timer = bits(5, "Steps until a diver enters, int32 ().", word="pace")
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


NUMBERS = tuple(name for name in SeaquestState.bit_fields if name != "last_action")


def from_original(fields: Mapping[str, Any], last_action: Any = NOTHING) -> SeaquestState:
    """The state that holds the original's fields.

    Where the newest of three `f_bullets` hits an enemy in the cell of the oldest and flies the same way, which play
    cannot reach, the original lets the other two fly on, and keeps them in its list, in another order than a step here.

    Args:
      fields: the attributes of the original's `Env`, numbers or arrays by their names. A list is an array of its items,
        padded to any length, and the number of them by its name with `_count`: 3 `f_bullets` and 4 `divers` at most,
        and in all 32 of `e_fish`, `e_subs`, and those `e_bullets` that no submarine on the board can have shot.
      last_action: of the original's `Environment`.
    """
    values = {name: jnp.asarray(value).astype(jnp.int32) for name, value in fields.items()}
    bullets = [
        Bullet.pack(flies=True, right=right, x=x, y=y).where(there)
        for there, (x, y, right) in _newest(values, "f_bullets", _NUM_BULLETS)
    ]
    divers = [
        Diver.pack(swims=True, right=right, x=x, row=y - 1, move_timer=timer).where(there)
        for there, (x, y, right, timer) in _newest(values, "divers", _NUM_DIVERS)
    ]
    return SeaquestState.pack(
        **{name: values[name] for name in NUMBERS},
        last_action=last_action,
        diver_count=values["diver_count"],
        f_bullets=join_bullets(bullets),
        divers=join_divers(divers),
        enemies=_enemies_from(values),
    )


def to_original(state: SeaquestState) -> dict[str, jax.Array]:
    """The original's fields of a state, by their names; the inverse of `from_original`.

    Lists are padded with zeros to their capacities, 32 for those of enemies. `e_bullets` are sorted by y, x, direction.
    """
    bullets, divers = split_bullets(state.f_bullets)[::-1], split_divers(state.divers)[::-1]
    alive, is_sub, right, x, row, move_timer, shot_timer, bullet, bullet_x = (
        slots.to_values(field if isinstance(field, tuple) else (field,))[::-1] for field in state.enemies
    )
    order = jnp.lexsort((right, bullet_x, row))
    return {
        **{name: getattr(state, name) for name in NUMBERS},
        "diver_count": state.diver_count,
        **_listed("f_bullets", *map(_stack, zip(*((b.flies, b.x, b.y, b.right) for b in bullets), strict=True))),
        **_listed(
            "divers",
            *map(_stack, zip(*((d.swims, d.x, d.row + 1, d.right, d.move_timer) for d in divers), strict=True)),
        ),
        **_listed("e_fish", alive & (1 - is_sub), x, row + 1, right, move_timer),
        **_listed("e_subs", alive & is_sub, x, row + 1, right, move_timer, shot_timer),
        **_listed("e_bullets", bullet[order], bullet_x[order], row[order] + 1, right[order]),
    }


def _field(word: jax.Array, index: int, width: int) -> jax.Array:
    return lax.shift_right_logical(word, np.uint32(width * index)) & np.uint32(2**width - 1)


def _newest(values: Mapping[str, jax.Array], name: str, num: int) -> list[tuple[jax.Array, jax.Array]]:
    """The last items of a list, the newest first, and whether they are there."""
    items, last = values[name], values[f"{name}_count"] - 1
    return [(last >= i, items[jnp.maximum(last - i, 0)]) for i in range(num)]


def _enemies_from(values: Mapping[str, jax.Array]) -> Enemies:
    place = np.arange(NUM_SLOTS, dtype=np.int32)
    num_fish, num_enemies = values["e_fish_count"], values["e_fish_count"] + values["e_subs_count"]
    is_sub = (place >= num_fish) & (place < num_enemies)
    fish = values["e_fish"][jnp.maximum(num_fish - 1 - place, 0)]
    subs = values["e_subs"][jnp.maximum(num_enemies - 1 - place, 0)]
    x, y, right, move_timer = jnp.where(is_sub, subs[:, :4].T, fish.T)
    alive, shot_timer = place < num_enemies, jnp.where(is_sub, subs[:, 4], 0)

    def add(held: tuple[jax.Array, ...], bullet: tuple[jax.Array, jax.Array]) -> tuple[tuple[jax.Array, ...], None]:
        """Gives a bullet to a submarine that can have shot it, as it leaves before the next shot, or its own place."""
        has_one, y, right, _ = held
        (at_x, at_y, to_right), there = bullet
        steps_left = jnp.where(to_right == 1, SIDE - at_x, at_x + 1)
        able = is_sub & ~has_one & (y == at_y) & (right == to_right) & (shot_timer >= steps_left)
        holder = jnp.where(able.any(), jnp.argmax(able), jnp.argmax(~alive & ~has_one)).astype(jnp.int32)
        holds = there & (place == holder)
        news = (True, at_y, to_right, at_x)
        return tuple(jnp.where(holds, new, old) for new, old in zip(news, held, strict=True)), None

    bullets = values["e_bullets"]
    there = jnp.asarray(np.arange(len(bullets), dtype=np.int32) < values["e_bullets_count"])
    start = (jnp.zeros_like(alive), y, right, jnp.zeros_like(x))
    (has_one, y, right, bullet_x), _ = lax.scan(add, start, (bullets, there), reverse=True)
    columns = (alive, is_sub, right, x, y - 1, move_timer, shot_timer, has_one, bullet_x)
    return Enemies(*(_like(none, jnp.asarray(column)) for none, column in zip(NO_ENEMIES, columns, strict=True)))


def _like(none: Any, values: jax.Array) -> Any:
    """The mask or number that a field of `Enemies` is, of the values of all places."""
    return slots.from_values(values, len(none)) if isinstance(none, tuple) else slots.from_values(values, 1)[0]


def _stack(column: tuple[jax.Array, ...]) -> jax.Array:
    return jnp.stack([number.astype(jnp.int32) for number in column])


def _listed(name: str, there: jax.Array, *columns: jax.Array) -> dict[str, jax.Array]:
    """A list of the original's and its length: the rows of the columns that are `there`, which is 0 or 1."""
    items = jnp.stack(columns, axis=-1) * there[:, None]
    return {name: items[jnp.argsort(1 - there, stable=True)], f"{name}_count": there.sum(dtype=jnp.int32)}
