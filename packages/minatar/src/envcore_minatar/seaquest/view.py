"""Observations of Seaquest: three words of bits per row, and a mask for each cell and word."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore.fusion import compute_once
from jax import lax

from envcore_minatar import slots
from envcore_minatar.packing import FULL_ROW, SIDE, bit, expand_once
from envcore_minatar.seaquest.enemies import NUM_ROWS, enemy_rows
from envcore_minatar.seaquest.state import NO_WORD, Enemies, SeaquestState, split_bullets, split_divers

_OXYGEN_A_CELL = 20

# By channel: which word of a row shows it, from which bit on, and in which rows of the board.
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


def observe_sea(state: SeaquestState) -> jax.Array:
    """The observation, bool (10, 10, 10)."""
    water = compute_once(_water, state.enemies, state.divers)
    first, second = compute_once(lambda words: [jnp.pad(word, 1) for word in words], water)  # vectorizes only by itself
    third = compute_once(_player_and_gauges, state.replace(time=None, divers=None, enemies=None))
    return expand_once(_expand, first, second, third)


def visible_things(state: SeaquestState) -> tuple[tuple[jax.Array, ...], ...]:
    """The player's bullets, the divers in the water and the enemies, as the picture takes them."""
    bullets, divers = split_bullets(state.f_bullets), split_divers(state.divers)
    exist, right, x, y = (jnp.stack(each) for each in zip(*bullets, strict=True))
    diver_exists, diver_right, diver_x, diver_row, _ = (jnp.stack(each) for each in zip(*divers, strict=True))
    enemies = state.enemies
    alive, is_sub, to_right, has_bullet = (
        slots.to_values((mask,)) == 1 for mask in (enemies.alive, enemies.is_sub, enemies.right, enemies.bullet)
    )
    columns, rows, bullet_x = (slots.to_values(number) for number in (enemies.x, enemies.row, enemies.bullet_x))
    return (
        (exist, right, x, y),
        (diver_exists, diver_right, diver_x, diver_row + 1),
        (alive, is_sub, to_right, columns, rows + 1, has_bullet, bullet_x),
    )


def oxygen_cells(oxygen: jax.Array) -> jax.Array:
    """Cells of the gauge: oxygen * 10 // 200, for oxygen from -2 on."""
    return lax.div(oxygen + _OXYGEN_A_CELL, jnp.full_like(oxygen, _OXYGEN_A_CELL)) - 1


def ahead(right: jax.Array) -> jax.Array:
    return jnp.where(right, 1, -1)


def _water(enemies: Enemies, divers: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
    """What is in the water, two words a row: uint32 (8,), see `SHOWN`."""
    first, second = enemy_rows(enemies)
    for diver in split_divers(divers):
        trail = jnp.where(diver.exists, bit(diver.x - ahead(diver.right)) & FULL_ROW, NO_WORD)
        first = first | _in_row(NUM_ROWS, diver.row, trail)
        second = second | _in_row(NUM_ROWS, diver.row, jnp.where(diver.exists, bit(10 + diver.x), NO_WORD))
    return first, second


def _player_and_gauges(state: SeaquestState) -> jax.Array:
    """The third word: uint32 (10,)."""
    # The back is on the board: the player faces away from the side that it came from.
    front, back = bit(state.sub_x), bit(10 + state.sub_x - ahead(state.sub_or))
    shown = _in_row(SIDE, state.sub_y, front | back)
    for bullet in split_bullets(state.f_bullets):
        shown = shown | _in_row(SIDE, bullet.y, jnp.where(bullet.exists, bit(20 + bullet.x), NO_WORD))
    oxygen = bit(oxygen_cells(jnp.maximum(state.oxygen, 0))) - np.uint32(1)
    divers = bit(19) - bit(19 - jnp.maximum(state.diver_count, 0))  # from the right; none if the count is negative
    return shown | _in_row(SIDE, jnp.int32(SIDE - 1), oxygen | divers)


def _in_row(num_rows: int, row: jax.Array, word: jax.Array) -> jax.Array:
    """The word in one of the rows: arithmetic, because comparisons do not vectorize."""
    rows = np.arange(num_rows, dtype=np.uint32)
    return (jnp.minimum(rows ^ row.astype(jnp.uint32), np.uint32(1)) - np.uint32(1)) & word


def _expand(water: jax.Array, others: jax.Array, player: jax.Array) -> jax.Array:
    """The cells that the three words of each row show: bool (10, 100), columns before channels."""
    masks = np.zeros((3, SIDE, SIDE, len(SHOWN)), np.uint32)
    for channel, (word, first, rows) in enumerate(SHOWN.values()):
        masks[word, rows, :, channel] = 1 << first + np.arange(SIDE)
    masks = masks.reshape(3, SIDE, -1)
    words = (water, others, player)
    return slots.union([word[:, None] & mask for word, mask in zip(words, masks, strict=True)]) != 0
