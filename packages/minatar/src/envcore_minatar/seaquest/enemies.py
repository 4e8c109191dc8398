"""The rules of Seaquest's fish and submarines: how they spawn, move, shoot, hit the player and are shot.

All enemies are handled at once, as bits of words (see `slots`).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from envcore_minatar import slots
from envcore_minatar.packing import SIDE
from envcore_minatar.seaquest.state import ENEMY_BITS, Bullet, Enemies, Enemy, join, join_bullets, split_bullets
from envcore_minatar.slots import Number

NUM_ROWS = 8
"""Rows with enemies and divers: rows 1 to 8 of the board."""
SHOT_INTERVAL = 10


def places_to_spawn(
    alive: jax.Array, right: jax.Array, row: Number, bullet: jax.Array, due: jax.Array, spawned: Enemy
) -> tuple[jax.Array, jax.Array]:
    """What `slots.insert` needs for a new enemy, which does not spawn where one comes the other way."""
    opposing = alive & slots.equal(row, spawned.row) & (right ^ slots.fill(spawned.right))
    return slots.places_that_change(alive | bullet, due & (opposing == 0)), join(spawned, ENEMY_BITS)


def bullets_hit(
    alive: jax.Array, is_sub: jax.Array, x: Number, row: Number, bullets: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """The player's bullets move, the newest first; each hits the oldest fish in its cell, or else submarine.

    Returns the mask of the enemies that are hit, and the bullets that are left.

    The original removes the first equal item from a list. Only a bullet that hits can have an equal: an older one in
    the cell that it moved to. The older one goes, and the newer one moves once more, to where the older one would have.
    """
    before = alive
    left: list[Bullet] = []
    for bullet in split_bullets(bullets):
        bullet_x = jnp.where(bullet.right, bullet.x + 1, bullet.x - 1)
        flies = bullet.exists & (bullet_x >= 0) & (bullet_x < SIDE)
        here = alive & _at(x, row, bullet_x, bullet.y) & slots.fill(flies)
        fish = here & ~is_sub
        hit = slots.last(jnp.where(fish != 0, fish, here))
        alive = alive ^ hit
        left.append(bullet._replace(x=bullet_x, exists=flies & (hit == 0)))
    return before ^ alive, join_bullets(left)


def enemies_collide(
    enemies: Enemies, bullets: jax.Array, sub_x: jax.Array, sub_y: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """What the enemies and their bullets hit, before and after they move.

    Returns the mask of the enemies that die by moving into a bullet, the player's bullets that are left, and whether
    the player is hit. Submarines move before fish and the newest first, so the newest submarine, or else fish, takes
    the bullet that several move into. An enemy that hits the player takes none.
    """
    moves, x = _move(enemies)
    near = _in_row(enemies.row, sub_y)
    rams = moves & near & slots.equal(x, sub_x)
    touches = rams | (enemies.alive & near & slots.equal(enemies.x, sub_x))
    for bullet, bullet_x in _enemy_bullets(enemies, moves, x):
        touches = touches | (bullet & near & slots.equal(bullet_x, sub_x))

    before = exposed = moves & ~rams & ~_outside(x)
    left: list[Bullet] = []
    for bullet in reversed(split_bullets(bullets)):
        here = exposed & _at(x, enemies.row, bullet.x, bullet.y) & slots.fill(bullet.exists)
        subs = here & enemies.is_sub
        hit = slots.first(jnp.where(subs != 0, subs, here))
        exposed = exposed ^ hit
        left.append(bullet._replace(exists=bullet.exists & (hit == 0)))
    return before ^ exposed, join_bullets(left[::-1]), touches != 0


def move_enemies(enemies: Enemies, dead: jax.Array, move_speed: jax.Array) -> Enemies:
    """The enemies after their moves and shots, without the `dead`, which moved into a bullet but still shoot."""
    moves, x = _move(enemies)
    fires = _fires(enemies)
    _, (bullet, bullet_x) = _enemy_bullets(enemies, moves, x)
    return enemies._replace(
        alive=enemies.alive & ~dead & ~(moves & _outside(x)),
        x=x,
        move_timer=slots.put(slots.decrease(enemies.move_timer, ~moves), moves, move_speed),
        shot_timer=slots.put(slots.decrease(enemies.shot_timer, ~fires), fires, SHOT_INTERVAL),
        bullet=bullet & ~_outside(bullet_x),
        bullet_x=bullet_x,
    )


def enemy_rows(enemies: Enemies) -> tuple[jax.Array, jax.Array]:
    """The enemies' cells: uint32 (8,) with trails, enemy bullets and fish in ten bits each, and one with submarines."""
    in_row = slots.equal(enemies.row, np.arange(NUM_ROWS, dtype=np.int32))
    none = enemies.alive ^ enemies.alive
    at = [none, *(enemies.alive & slots.equal(enemies.x, x) for x in range(SIDE)), none]
    behind = [(at[x + 2] & enemies.right) | (at[x] & ~enemies.right) for x in range(SIDE)]
    bullets = [enemies.bullet & slots.equal(enemies.bullet_x, x) for x in range(SIDE)]
    fish = [mask & ~enemies.is_sub for mask in at[1:-1]]
    subs = [mask & enemies.is_sub for mask in at[1:-1]]

    def board(columns: list[jax.Array]) -> jax.Array:
        # The minimum tells whether there is any: it vectorizes, and comparisons do not.
        found = [jnp.minimum(in_row & column, np.uint32(1)) for column in columns]
        return slots.union([lax.shift_left(cell, np.uint32(x)) for x, cell in enumerate(found)])

    return board([*behind, *bullets, *fish]), board(subs)


def _in_row(row: Number, y: jax.Array) -> jax.Array:
    return slots.equal(row, y - 1) & slots.fill(y > 0)


def _at(x: Number, row: Number, at_x: jax.Array, at_y: jax.Array) -> jax.Array:
    return slots.equal(x, at_x) & _in_row(row, at_y)


def _outside(x: Number) -> jax.Array:
    """The objects with x of 10 or 11, or of -1 or -2, which are 15 and 14 in four bits."""
    return x[3] & x[1]


def _advance(enemies: Enemies, x: Number, mask: jax.Array) -> Number:
    """The columns after those of the mask have moved by one cell, each in its enemy's direction."""
    return slots.decrease(slots.increase(x, mask & enemies.right), mask & ~enemies.right)


def _move(enemies: Enemies) -> tuple[jax.Array, Number]:
    """The mask of the enemies that move, and all columns after it."""
    moves = enemies.alive & slots.equal(enemies.move_timer, 0)
    return moves, _advance(enemies, enemies.x, moves)


def _fires(enemies: Enemies) -> jax.Array:
    return enemies.alive & enemies.is_sub & slots.equal(enemies.shot_timer, 0)


def _enemy_bullets(enemies: Enemies, moves: jax.Array, x: Number) -> list[tuple[jax.Array, Number]]:
    """The enemies' bullets after the submarines have shot, and after the bullets have moved.

    A submarine that has left the board still shoots, from outside and outward.
    """
    fires = _fires(enemies)
    bullet = enemies.bullet | fires
    bullet_x = slots.select(fires, x, enemies.bullet_x)
    return [(bullet, bullet_x), (bullet, _advance(enemies, bullet_x, bullet))]
