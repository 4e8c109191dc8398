"""Pictures of Seaquest."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting
from envcore.painting import figures

from envcore_minatar.packing import SIDE
from envcore_minatar.render.parts import board, facing, repeated_both_ways

_WATER: painting.Color = (205, 226, 240)
_SAND: painting.Color = (231, 214, 172)


@painting.picture
def paint_seaquest(
    height: int,
    sub: tuple[jax.Array, jax.Array, jax.Array],
    shot_timer: jax.Array,
    oxygen: jax.Array,
    diver_count: jax.Array,
    bullets: tuple[jax.Array, ...],
    divers: tuple[jax.Array, ...],
    enemies: tuple[jax.Array, ...],
    *,
    cool_down: int,
    max_oxygen: int,
    max_divers: int,
) -> jax.Array:
    """The player's blue submarine, divers in green, fish, submarines and their bullets in red, and the gauges.

    The player's torpedo tube is bright when it can shoot, and short after a shot. On the sand are the oxygen, red when
    it is low, and a green head for each diver on board, or red ones for each that is missing below zero.

    Args:
      height: of the picture.
      sub: column, row and whether it faces right, of the player's front; its back is the cell behind.
      shot_timer: steps until the player can shoot, int32 ().
      oxygen: steps that it lasts, int32 ().
      diver_count: divers on board, int32 ().
      bullets: of the player: exist, right, column, row; bool and int32 (n,).
      divers: in the water: exist, right, column, row.
      enemies: alive, is a submarine, right, column, row, has a bullet, the bullet's column.
      cool_down, max_oxygen, max_divers: the largest `shot_timer`, `oxygen` and `diver_count`.
    """
    x, y, right = sub
    at = figures.cell(y, x, SIDE)
    loaded = 1 - shot_timer / cool_down
    hull, tube = (painting.placed(facing(shape, right), at, 0.0) for shape in _player(loaded))
    shots = [board(bullets[3], bullets[2], bullets[0] & way) for way in (bullets[1], ~bullets[1])]
    swimmers = [board(divers[3], divers[2], divers[0] & way) for way in (divers[1], ~divers[1])]
    alive, is_sub, to_right, column, row, has_bullet, bullet_x = enemies
    fish = [board(row, column, alive & ~is_sub & way) for way in (to_right, ~to_right)]
    subs = [board(row, column, alive & is_sub & way) for way in (to_right, ~to_right)]
    theirs = [board(row, bullet_x, has_bullet & way) for way in (to_right, ~to_right)]
    danger = painting.union(
        repeated_both_ways(_fish(), *fish),
        repeated_both_ways(_submarine(), *subs),
        repeated_both_ways(_torpedo(), *theirs),
    )
    eyes = painting.union(
        repeated_both_ways(painting.circle((0.22, 0.05), 0.07), *fish),
        repeated_both_ways(painting.circle((0.18, -0.1), 0.1), *subs),
    )
    low = oxygen < max_oxygen // 5
    (track, _), fill = figures.gauge(
        (0.5, 0.5), 5.0, oxygen / max_oxygen, figures.either(low, painting.RED, painting.BLUE), 0.4
    )
    seats = np.arange(max_divers, dtype=np.int32)[None]
    all_seats, taken = (
        painting.scaled(painting.repeated(painting.circle((0.0, 0.0), 0.4), where), (6.1, 0.2), 0.6)
        for where in (seats >= 0, seats < jnp.abs(diver_count))
    )
    return painting.paint(
        height,
        painting.Window.around((0.0, SIDE), (0.0, SIDE)),
        (painting.half_plane(SIDE - 0.75), _WATER),
        (painting.half_plane(1.0), _SAND),
        (repeated_both_ways(_diver(), *swimmers), painting.GREEN),
        (danger, painting.RED),
        (eyes, painting.PAPER),
        (repeated_both_ways(_torpedo(), *shots), painting.BLUE),
        (hull, painting.BLUE),
        (tube, painting.YELLOW),
        (track, painting.STONE),
        fill,
        (all_seats, painting.STONE),
        (taken, figures.either(diver_count < 0, painting.RED, painting.GREEN)),
        background=painting.SHADE,
    )


def _player(loaded: jax.Array) -> tuple[painting.Shape, painting.Shape]:
    """The hull, from the front's cell into the one behind, and the torpedo tube, longer the more it is `loaded`."""
    hull = painting.union(
        painting.box((-0.46, -0.1), (1.8, 0.52), corner=0.26),
        painting.box((-0.46, 0.22), (0.5, 0.32), corner=0.08),
        painting.box((-1.38, -0.1), (0.12, 0.5), corner=0.05),
    )
    return hull, painting.segment((0.24, -0.1), (0.24 - 0.9 * loaded, -0.1), 0.09)


def _submarine() -> painting.Shape:
    return painting.union(
        painting.box((0.04, -0.1), (0.84, 0.42), corner=0.2),
        painting.box((0.0, 0.2), (0.26, 0.28), corner=0.05),
        painting.box((-0.42, -0.1), (0.1, 0.44), corner=0.04),
    )


def _fish() -> painting.Shape:
    tail = painting.polygon((-0.12, 0.0), (-0.44, 0.28), (-0.44, -0.28))
    return painting.union(painting.box((0.1, 0.0), (0.66, 0.44), corner=0.22), tail)


def _torpedo() -> painting.Shape:
    point = painting.polygon((0.1, -0.14), (0.42, 0.0), (0.1, 0.14))
    return painting.union(painting.box((-0.12, 0.0), (0.5, 0.14), corner=0.05), point)


def _diver() -> painting.Shape:
    """A swimmer with fins."""
    body = painting.segment((0.08, 0.0), (-0.16, -0.08), 0.13)
    fins = [painting.segment((-0.16, -0.08), (-0.42, y), 0.05) for y in (-0.24, 0.06)]
    return painting.union(painting.circle((0.28, 0.06), 0.16), body, *fins)
