"""Pictures of the games: envcore's, and those in the original's style."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting
from envcore.painting import figures

from envcore_minatar.packing import NUM_LANES, SIDE

DIM: painting.Color = (84, 92, 107)
"""Lines on a dark background, and iron."""

_CENTER = (0.0, 0.0)
_ROWS = np.arange(1, NUM_LANES + 1, dtype=np.int32)
_LANES = (SIDE / 2, SIDE / 2), (SIDE, NUM_LANES)  # center and size
_SPEEDS = np.array([painting.RED, painting.YELLOW, painting.GREEN, painting.BLUE, painting.STONE], np.float32)
_BRICK_ROWS = np.pad(np.array([painting.RED, painting.YELLOW, painting.GREEN], np.float32), ((1, 6), (0, 0)))
_ANGLES = np.array([0.75, 0.25, -0.25, -0.75], np.float32) * np.float32(np.pi)  # of the ball's directions
_WATER: painting.Color = (205, 226, 240)
_SAND: painting.Color = (231, 214, 172)


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
    """Paints the player, coins, red enemies, trails of everything that moves, and two gauges in the bottom row.

    The left gauge empties until the entities move, and the right one until an entity appears. Their lengths show how
    long that takes in total.

    Args:
      height: height of the picture.
      player_x, player_y: column and row of the player, int32 ().
      spawn_speed, spawn_timer, move_speed, move_timer: numbers of steps, int32 ().
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
    eyes = painting.union(painting.circle((-0.13, -0.12), 0.09), painting.circle((0.13, -0.12), 0.09))
    helmet, wings = _helmet()
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
        (painting.placed(painting.circle((0.0, -0.12), 0.34), at, 0.0), painting.ORANGE),
        (painting.placed(helmet, at, 0.0), DIM),
        (painting.placed(wings, at, 0.0), painting.INK),
        (painting.placed(eyes, at, 0.0), painting.PAPER),
        *_gauge((0.4, 0.5), move_speed / slowest_move * 4.4, move_timer / move_speed, painting.INK),
        *_gauge((5.2, 0.5), spawn_speed / slowest_spawn * 4.4, spawn_timer / spawn_speed, painting.RED),
        background=painting.SHADE,
    )


@painting.picture
def paint_freeway(
    height: int, pos: jax.Array, move_timer: jax.Array, cars: jax.Array, *, move_period: int
) -> jax.Array:
    """Paints the road, the chicken between two pavements, and the cars.

    The fastest cars are red, then yellow, green, blue and gray. The gauge in the bottom row empties until the chicken
    can move.

    Args:
      height: height of the picture.
      pos: row of the chicken, int32 ().
      move_timer: number of steps until it can move, int32 ().
      cars: column, row, timer and speed, int32 (8, 4). Speeds to the left are negative.
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
        *_gauge((6.0, 0.5), 3.6, move_timer / move_period, painting.INK),
        background=painting.SHADE,
    )


def _helmet() -> tuple[painting.Shape, painting.Shape]:
    """The upper half of a ball, and two wings on it."""
    ball = painting.circle((0.0, 0.0), 0.36)
    wings = [painting.segment((0.3 * side, 0.1), (0.42 * side, 0.38), 0.07) for side in (-1, 1)]
    return lambda x, y: jnp.maximum(ball(x, y), np.float32(0.02) - y), painting.union(*wings)


def _chicken() -> tuple[painting.Shape, painting.Shape, painting.Shape]:
    """Body, beak and comb of the chicken, seen from the side."""
    tail = painting.polygon((-0.2, 0.05), (-0.46, 0.3), (-0.42, -0.1))
    legs = [painting.segment((x, -0.3), (x, -0.46), 0.04) for x in (-0.1, 0.1)]
    body = painting.union(painting.circle((-0.04, -0.1), 0.31), painting.circle((0.2, 0.2), 0.19), tail, *legs)
    return body, painting.polygon((0.32, 0.1), (0.5, 0.18), (0.32, 0.28)), painting.circle((0.18, 0.38), 0.1)


@painting.picture
def paint_breakout(
    height: int,
    ball_y: jax.Array,
    ball_x: jax.Array,
    ball_dir: jax.Array,
    pos: jax.Array,
    last_y: jax.Array,
    last_x: jax.Array,
    strike: jax.Array,
    brick_map: jax.Array,
) -> jax.Array:
    """Paints the bricks, the paddle, and the ball with a trail from its previous position and a nose in its direction.

    The ball is hollow while it passes through bricks.

    Args:
      height: height of the picture.
      ball_y, ball_x, last_y, last_x: current and previous row and column of the ball, int32 ().
      ball_dir: 0 up left, 1 up right, 2 down right, 3 down left, int32 ().
      pos: column of the paddle, int32 ().
      strike: whether the ball passes through bricks, bool ().
      brick_map: cells with bricks, bool (10, 10).
    """
    ball, last = figures.cell(ball_y, ball_x, SIDE), figures.cell(last_y, last_x, SIDE)
    nose = painting.placed(
        painting.polygon((0.0, -0.26), (0.5, 0.0), (0.0, 0.26)), ball, jnp.asarray(_ANGLES)[ball_dir]
    )
    paddle = figures.cell(SIDE - 1, pos, SIDE)
    return painting.paint(
        height,
        painting.Window.around((0.0, SIDE), (0.0, SIDE)),
        (painting.repeated(painting.box(_CENTER, (0.92, 0.8), corner=0.08), brick_map), by_row(_BRICK_ROWS)),
        (painting.segment(last, ball, 0.1), painting.STONE),
        (painting.box((paddle[0], paddle[1] + 0.1), (1.0, 0.5), corner=0.15), painting.BLUE),
        (painting.union(painting.circle(ball, 0.3), nose), painting.INK),
        (painting.shown(painting.circle(ball, 0.16), strike), painting.PAPER),
        background=painting.SHADE,
    )


@painting.picture
def paint_space_invaders(
    height: int,
    pos: jax.Array,
    shot_timer: jax.Array,
    alien_dir: jax.Array,
    enemy_move_interval: jax.Array,
    alien_move_timer: jax.Array,
    alien_shot_timer: jax.Array,
    alien_map: jax.Array,
    f_bullet_map: jax.Array,
    e_bullet_map: jax.Array,
    *,
    cool_down: int,
    shot_interval: int,
    slowest: int,
) -> jax.Array:
    """Paints the aliens, which look where they march, the cannon, the bullets of both sides, and two gauges below.

    The barrel grows until the cannon can shoot, and then has a bright tip. The left gauge empties until the aliens
    march, and its length is their interval. The right gauge empties until an alien shoots.

    Args:
      height: height of the picture.
      pos: column of the cannon, int32 ().
      shot_timer, alien_move_timer, alien_shot_timer: numbers of steps until these events, int32 ().
      alien_dir: -1 if aliens move left, 1 if they move right, int32 ().
      enemy_move_interval: number of steps between two moves of the aliens, int32 ().
      alien_map, f_bullet_map, e_bullet_map: cells with aliens, the cannon's and the aliens' bullets, bool (10, 10).
      cool_down, shot_interval, slowest: the largest `shot_timer`, `alien_shot_timer` and `enemy_move_interval`.
    """
    x, y = figures.cell(SIDE - 1, pos, SIDE)
    loaded = 1 - shot_timer / cool_down
    barrel = painting.segment((x, y - 0.1), (x, y - 0.1 + 0.42 * loaded), 0.11)
    cannon = painting.union(painting.box((x, y - 0.28), (0.96, 0.4), corner=0.1), barrel)
    look = alien_dir / 12
    eyes = painting.union(painting.circle((look - 0.14, 0.08), 0.085), painting.circle((look + 0.14, 0.08), 0.085))
    march = enemy_move_interval / slowest * 4.5
    return painting.paint(
        height,
        painting.Window.around((-0.25, SIDE + 0.25), (-0.5, SIDE)),
        (painting.repeated(_alien(), alien_map), painting.PAPER),
        (painting.repeated(eyes, alien_map), painting.INK),
        (painting.repeated(_bullet(1), f_bullet_map), painting.YELLOW),
        (painting.repeated(_bullet(-1), e_bullet_map), painting.RED),
        (cannon, painting.ORANGE),
        (painting.shown(painting.circle((x, y + 0.32), 0.11), shot_timer == 0), painting.YELLOW),
        *_gauge((0.3, -0.25), march, alien_move_timer / enemy_move_interval, painting.PAPER, DIM, 0.18),
        *_gauge((5.2, -0.25), 4.5, alien_shot_timer / shot_interval, painting.RED, DIM, 0.18),
        background=painting.INK,
    )


def _alien() -> painting.Shape:
    legs = [painting.segment((0.16 * side, -0.1), (0.3 * side, -0.34), 0.06) for side in (-1, 1)]
    antennae = [painting.segment((0.12 * side, 0.2), (0.22 * side, 0.38), 0.045) for side in (-1, 1)]
    return painting.union(painting.box((0.0, 0.05), (0.72, 0.42), corner=0.16), *legs, *antennae)


def _bullet(up: int) -> painting.Shape:
    """A bullet that points up for 1 and down for -1."""
    point = painting.polygon((-0.17, 0.08), (0.17, 0.08), (0.0, 0.44))
    bullet = painting.union(painting.box((0.0, -0.12), (0.16, 0.5), corner=0.05), point)
    return lambda x, y: bullet(x, y * up)


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
    """Paints the player's blue submarine, divers in green, fish, submarines and their bullets in red, and the gauges.

    The player's torpedo tube is bright when it can shoot, and short after a shot. The oxygen is shown on the sand, in
    red when it is low. Next to it is a green head for each diver on board, or a red one for each diver below zero.

    Args:
      height: height of the picture.
      sub: column, row and whether it faces right, for the player's front. Its back is the cell behind.
      shot_timer: number of steps until the player can shoot, int32 ().
      oxygen: number of steps that the oxygen lasts, int32 ().
      diver_count: number of divers on board, int32 ().
      bullets: the player's bullets: exists, right, column, row. Bool and int32 (n,).
      divers: divers in the water: exists, right, column, row.
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
        *_gauge((0.5, 0.5), 5.0, oxygen / max_oxygen, figures.either(low, painting.RED, painting.BLUE), width=0.4),
        (all_seats, painting.STONE),
        (taken, figures.either(diver_count < 0, painting.RED, painting.GREEN)),
        background=painting.SHADE,
    )


def _player(loaded: jax.Array) -> tuple[painting.Shape, painting.Shape]:
    """The hull, in the front's cell and the one behind, and the torpedo tube, whose length shows if it is `loaded`."""
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


@painting.picture
def paint_channels(height: int, obs: jax.Array) -> jax.Array:
    """Paints the observation, bool (10, 10, channels), as colored cells on black. Later channels cover earlier ones."""
    num_channels = obs.shape[-1]
    shown = jnp.max(jnp.where(obs, np.arange(1, num_channels + 1, dtype=np.int32)[None, None], 0), axis=-1)
    pixel = np.arange(height) * obs.shape[0] // height
    return jnp.asarray(colors(num_channels))[shown[pixel][:, pixel]]


def colors(num_channels: int) -> np.ndarray:
    """Returns black and a color for each channel: uint8 (num_channels + 1, 3).

    The original uses seaborn's palette "cubehelix", which takes evenly spaced colors from matplotlib's table of 256
    (Green 2011, "A colour scheme for the display of astronomical intensity images").
    """
    place = (np.linspace(0, 1, num_channels + 2)[1:-1] * 256).astype(int) / 255
    angle = 2 * np.pi * (0.5 / 3 - 1.5 * place)
    towards = np.array([[-0.14861, 1.78277], [-0.29227, -0.90649], [1.97294, 0.0]])
    turned = place + place * (1 - place) / 2 * (towards @ np.stack([np.cos(angle), np.sin(angle)]))
    return np.concatenate([np.zeros((1, 3)), np.rint(255 * np.clip(turned.T, 0, 1))]).astype(np.uint8)


# Shared by several pictures.


def board(rows: jax.Array | np.ndarray, columns: jax.Array, exist: jax.Array) -> jax.Array:
    """Marks the cells of n objects, bool (10, 10), given int32 (n,), int32 (n,) and bool (n,).

    Objects outside the board are not shown.
    """
    side = np.arange(SIDE, dtype=np.int32)[None]
    in_row, in_column = (rows[:, None] == side) & exist[:, None], columns[:, None] == side
    return (in_row[:, :, None] & in_column[:, None, :]).any(0)


def facing(shape: painting.Shape, right: jax.Array) -> painting.Shape:
    """A shape that is drawn facing right, mirrored unless `right`, bool ()."""
    return lambda x, y: shape(jnp.where(right, x, -x), y)


def repeated_both_ways(shape: painting.Shape, to_right: jax.Array, to_left: jax.Array) -> painting.Shape:
    """Copies of a shape that is drawn facing right, in the cells of two boards, bool (10, 10)."""
    mirrored = facing(shape, jnp.bool_(False))
    return painting.union(painting.repeated(shape, to_right), painting.repeated(mirrored, to_left))


def by_row(colors: jax.Array | np.ndarray) -> painting.Paint:
    """Paints each row of the board in its color, float32 (10, 3)."""
    table = jnp.asarray(colors, jnp.float32)

    def levels(x: jax.Array, y: jax.Array) -> painting.Color:
        del x
        row = jnp.clip(SIDE - 1 - jnp.floor(y).astype(jnp.int32), 0, SIDE - 1)
        return table[row, 0], table[row, 1], table[row, 2]

    return levels


def _gauge(
    at: painting.Point,
    length: painting.Number,
    share: jax.Array,
    color: painting.Color,
    track: painting.Color = painting.STONE,
    width: float = 0.24,
) -> list[figures.Layer]:
    (shape, _), fill = figures.gauge(at, length, share, color, width)
    return [(shape, track), fill]
