"""Pictures of Asterix and Freeway, where things cross the board in rows 1 to 8."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting
from envcore.painting import figures

from envcore_minatar.lanes import NUM_LANES
from envcore_minatar.packing import SIDE
from envcore_minatar.render.parts import DIM, board, by_row, repeated_both_ways

_ROWS = np.arange(1, NUM_LANES + 1, dtype=np.int32)
_LANES = (SIDE / 2, SIDE / 2), (SIDE, NUM_LANES)  # center and size
_SPEEDS = np.array([painting.RED, painting.YELLOW, painting.GREEN, painting.BLUE, painting.STONE], np.float32)


@painting.picture
def paint_asterix(
    height: int,
    player_x: jax.Array,
    player_y: jax.Array,
    spawn_speed: jax.Array,
    spawn_timer: jax.Array,
    move_speed: jax.Array,
    move_timer: jax.Array,
    entities: jax.Array,
    *,
    slowest_spawn: int,
    slowest_move: int,
) -> jax.Array:
    """The player, coins, red enemies, lines behind what moves, and two gauges in the bottom row.

    The left gauge empties until the entities move, the right one until one appears; they are as long as these take.

    Args:
      height: of the picture.
      player_x, player_y: column and row, int32 ().
      spawn_speed, spawn_timer, move_speed, move_timer: steps, int32 ().
      entities: filled, column, row, moves right, is gold, int32 (8, 5).
      slowest_spawn, slowest_move: the largest `spawn_speed` and `move_speed`.
    """
    filled, column, _, to_right, is_gold = jnp.moveaxis(entities.astype(jnp.int32), -1, 0)
    filled, right, gold = filled == 1, to_right == 1, is_gold == 1
    enemies = [board(_ROWS, column, filled & ~gold & way) for way in (right, ~right)]
    behind = [board(_ROWS, column - step, filled & way) for step, way in ((1, right), (-1, ~right))]
    coins = board(_ROWS, column, filled & gold)
    coin = painting.circle((0.0, 0.0), 0.34)
    enemy = painting.polygon((-0.36, -0.38), (0.42, 0.0), (-0.36, 0.38))
    lines = painting.union(*[painting.box((0.1, y), (0.64, 0.08), corner=0.04) for y in (-0.18, 0.0, 0.18)])
    at = figures.cell(player_y, player_x, SIDE)
    eyes = painting.union(painting.circle((-0.13, 0.0), 0.09), painting.circle((0.13, 0.0), 0.09))
    grid = painting.repeated(painting.box((0.0, 0.0), (0.94, 0.94), corner=0.08), np.ones((SIDE, SIDE), np.bool_))
    lanes = painting.box(*_LANES)
    return painting.paint(
        height,
        painting.Window.around((0.0, SIDE), (0.0, SIDE)),
        (lambda x, y: jnp.maximum(grid(x, y), lanes(x, y)), painting.PAPER),
        (repeated_both_ways(lines, *behind), painting.STONE),
        (repeated_both_ways(enemy, *enemies), painting.RED),
        (repeated_both_ways(painting.circle((-0.12, 0.0), 0.1), *enemies), painting.PAPER),
        (painting.repeated(coin, coins), painting.YELLOW),
        (painting.repeated(painting.outline(coin, 0.09), coins), painting.INK),
        (painting.placed(_gaul(), at, 0.0), painting.ORANGE),
        (painting.placed(eyes, at, 0.0), painting.PAPER),
        *_gauge(0.4, move_speed / slowest_move * 4.4, move_timer / move_speed, painting.INK),
        *_gauge(5.2, spawn_speed / slowest_spawn * 4.4, spawn_timer / spawn_speed, painting.RED),
        background=painting.SHADE,
    )


@painting.picture
def paint_freeway(
    height: int, pos: jax.Array, move_timer: jax.Array, cars: jax.Array, *, move_period: int
) -> jax.Array:
    """The road, the chicken between two pavements, and the cars: red is the fastest, then yellow, green, blue, gray.

    The gauge in the bottom row empties until the chicken can move.

    Args:
      height: of the picture.
      pos: row of the chicken, int32 ().
      move_timer: steps until it can move, int32 ().
      cars: column, row, timer and speed, int32 (8, 4); speeds to the left are negative.
      move_period: the largest `move_timer`.
    """
    column, _, _, speed = jnp.moveaxis(cars, -1, 0)
    right = speed > 0
    boards = [board(_ROWS, column, way) for way in (right, ~right)]
    behind = [board(_ROWS, (column - step) % SIDE, way) for step, way in ((1, right), (-1, ~right))]
    colors = jnp.pad(jnp.asarray(_SPEEDS)[jnp.clip(jnp.abs(speed) - 1, 0, len(_SPEEDS) - 1)], ((1, 1), (0, 0)))
    glass = painting.union(painting.box((0.14, 0.0), (0.14, 0.42)), painting.box((-0.3, 0.0), (0.08, 0.36)))
    lights = painting.union(*[painting.circle((0.42, y), 0.07) for y in (-0.18, 0.18)])
    fumes = painting.union(*[painting.box((0.2, y), (0.5, 0.07), corner=0.03) for y in (-0.16, 0.16)])
    dash = painting.box((0.0, -0.46), (0.5, 0.08))
    between = np.zeros((SIDE, SIDE), np.bool_)
    between[1:NUM_LANES] = True
    chicken, beak, comb = _chicken()
    at = figures.cell(pos, 4, SIDE)
    return painting.paint(
        height,
        painting.Window.around((0.0, SIDE), (0.0, SIDE)),
        (painting.box(*_LANES), painting.INK),
        (painting.repeated(dash, between), DIM),
        (repeated_both_ways(fumes, *behind), painting.STONE),
        (repeated_both_ways(painting.box((0.0, 0.0), (0.9, 0.58), corner=0.16), *boards), by_row(colors)),
        (repeated_both_ways(glass, *boards), painting.INK),
        (repeated_both_ways(lights, *boards), painting.PAPER),
        (painting.placed(comb, at, 0.0), painting.RED),
        (painting.placed(chicken, at, 0.0), painting.ORANGE),
        (painting.placed(beak, at, 0.0), painting.YELLOW),
        *_gauge(6.0, 3.6, move_timer / move_period, painting.INK),
        background=painting.SHADE,
    )


def _gaul() -> painting.Shape:
    """A head with a winged helmet."""
    wings = [painting.segment((0.18 * side, 0.14), (0.36 * side, 0.36), 0.1) for side in (-1, 1)]
    return painting.union(painting.circle((0.0, -0.08), 0.36), *wings)


def _chicken() -> tuple[painting.Shape, painting.Shape, painting.Shape]:
    """Its body, its beak and its comb, seen from the side."""
    tail = painting.polygon((-0.2, 0.05), (-0.46, 0.3), (-0.42, -0.1))
    legs = [painting.segment((x, -0.3), (x, -0.46), 0.04) for x in (-0.1, 0.1)]
    body = painting.union(painting.circle((-0.04, -0.1), 0.31), painting.circle((0.2, 0.2), 0.19), tail, *legs)
    return body, painting.polygon((0.32, 0.1), (0.5, 0.18), (0.32, 0.28)), painting.circle((0.18, 0.38), 0.1)


def _gauge(x: float, length: painting.Number, share: jax.Array, color: painting.Color) -> list[figures.Layer]:
    (track, _), fill = figures.gauge((x, 0.5), length, share, color, width=0.24)
    return [(track, painting.STONE), fill]
