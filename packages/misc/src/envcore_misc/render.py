"""Pictures of the environments: `paint_*(height, *numbers, **options) -> uint8 (height, width, 3)`.

Numbers have the same names, shapes and units as in the state or the params. Bandits show arms as columns, an orange
disc below the last pulled arm, and its reward as a yellow coin. Grids and mazes have a tile per cell, green goals, gray
walls and an orange walker. Windows on the plane grow to keep everything that moves in view. Pong is on the dark screen
of an arcade.
"""

from __future__ import annotations

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting, trig
from envcore.painting import figures
from envcore.typing import ArrayParam, BoolParam, FloatParam, IntParam
from jax import lax
from jax.typing import ArrayLike

_WATER: painting.Color = (205, 226, 240)  # and ice
_PALE_GREEN: painting.Color = (196, 217, 196)
_PALE_BLUE: painting.Color = (160, 184, 217)
_LINE: painting.Color = (84, 92, 107)  # on a dark screen
_BELOW, _ABOVE = 0.9, 0.85  # from the lower edge to a bandit's columns, and from the columns to the upper edge


# Bandits.


@painting.picture
def paint_bernoulli_bandit(
    height: int,
    time: jax.Array,
    last_action: jax.Array,
    last_reward: jax.Array,
    reward_probs: jax.Array,
    exp_reward_best: jax.Array,
    max_steps_in_episode: IntParam,
) -> jax.Array:
    """Paints the probability of each arm, float32 (arms,), the best in green, and a coin above an arm that just paid.

    The width is at least the height, and up to twice as much for many arms.
    """
    num_arms = len(reward_probs)
    window, full = _room(num_arms)
    is_best = reward_probs >= exp_reward_best
    return painting.paint(
        height,
        window,
        (figures.bars(np.full(num_arms, full)), painting.SHADE),
        (figures.bars(full * reward_probs), figures.by_column(is_best, painting.GREEN, painting.BLUE)),
        (painting.text("CHANCE OF REWARD", (0.15, full + 0.62), 0.15), painting.INK),
        *_pull(num_arms, full + 0.3, last_action, last_reward > 0, time, max_steps_in_episode),
    )


@painting.picture
def paint_gaussian_bandit(
    height: int,
    time: jax.Array,
    last_action: jax.Array,
    last_reward: jax.Array,
    mu: jax.Array,
    mean_mu: FloatParam,
    sigma_p: FloatParam,
    sigma_l: FloatParam,
    max_steps_in_episode: IntParam,
) -> jax.Array:
    """Paints the mean of the risky arm above or below the safe arm's 0, and the last reward at its height.

    The columns reach two standard deviations of mean and reward beyond the mean of means. Square.
    """
    window, full = _room(2)
    largest = jnp.abs(mean_mu) + 2 * (sigma_p + sigma_l)
    middle, scale = full / 2, full / 2 / jnp.maximum(largest, np.float32(1e-6))

    def level(value: jax.Array) -> jax.Array:
        return middle + jnp.clip(scale * value, -full / 2, full / 2)

    mean = (1.5, (middle + level(mu)) / 2), (0.7, jnp.abs(level(mu) - middle))
    return painting.paint(
        height,
        window,
        (figures.bars(np.full(2, full)), painting.SHADE),
        (painting.box(*mean), figures.either(mu > 0, painting.GREEN, painting.RED)),
        (painting.segment((0.0, middle), (2.0, middle), 0.02), painting.STONE),
        (painting.segment((0.2, middle), (0.8, middle), 0.05), painting.BLUE),
        (painting.text("SAFE  RISKY", (0.2, full + 0.1), 0.18), painting.INK),
        *_pull(2, level(last_reward), last_action, True, time, max_steps_in_episode),
    )


def _room(num_arms: int) -> tuple[painting.Window, float]:
    """Returns a window around columns one unit apart with y = 0 at the bottom, and their maximum height."""
    height = max(3.2, (num_arms + 1.2) / 2)
    width = max(num_arms + 1.2, height)
    return painting.Window((num_arms / 2, height / 2 - _BELOW), height, width / height), height - _BELOW - _ABOVE


def _pull(
    num_arms: int, level: painting.Number, arm: jax.Array, paid: jax.Array | bool, time: jax.Array, end: IntParam
) -> list[figures.Layer]:
    """The disc below the last pulled arm, the coin at a level, and the time. Before the first pull, the time alone."""
    x, begun = arm.astype(jnp.float32) + 0.5, time > 0
    return [
        (painting.text("PULL", (-0.55, -0.34), 0.13), painting.INK),
        (painting.shown(painting.circle((x, -0.27), 0.18), begun), painting.ORANGE),
        (painting.shown(painting.circle((x, level), 0.2), begun & paid), painting.INK),
        (painting.shown(painting.circle((x, level), 0.16), begun & paid), painting.YELLOW),
        (painting.text("TIME", (-0.55, -0.69), 0.13), painting.INK),
        *figures.gauge((0.15, -0.63), num_arms - 0.3, time / end),
    ]


# Grids and mazes.


@painting.picture
def paint_frozen_lake(height: int, position: jax.Array, *, lake: tuple[str, ...]) -> jax.Array:
    """Paints the ice with its holes, a flag on each goal, and the walker on cell `position`, int32 (), row by row."""
    tiles = np.array([list(line) for line in lake])
    rows, columns = tiles.shape
    window, _ = figures.board(rows, columns)
    at = _cell(jnp.stack(jnp.divmod(position, np.int32(columns))), rows)
    return painting.paint(
        height,
        window,
        (figures.tiles(np.ones_like(tiles, np.bool_)), _WATER),
        (painting.repeated(painting.circle((0.0, 0.0), 0.36), tiles == "H"), painting.INK),
        (figures.tiles(tiles == "G"), painting.GREEN),
        (painting.repeated(_flag(), tiles == "G"), painting.PAPER),
        figures.walker(at),
    )


@painting.picture
def paint_four_rooms(height: int, pos: jax.Array, goal: jax.Array, walls: jax.Array | np.ndarray) -> jax.Array:
    """Paints the house, with walls, bool (rows, columns), and goal and walker, row and column int32 (2,). Square."""
    window, board = figures.board(*walls.shape)
    rows = len(walls)
    return painting.paint(
        height,
        window,
        board,
        (figures.tiles(np.ones(walls.shape, np.bool_)), painting.shades(walls, painting.PAPER, painting.STONE)),
        (figures.tile(_cell(goal, rows)), painting.GREEN),
        figures.walker(_cell(pos, rows), 0.4),
    )


@painting.picture
def paint_meta_maze(
    height: int,
    time: jax.Array,
    pos: jax.Array,
    goal: jax.Array,
    last_reward: jax.Array,
    max_steps_in_episode: IntParam,
    walls: jax.Array | np.ndarray,
    *,
    rf_size: int,
) -> jax.Array:
    """Paints the maze, the hidden goal, a frame around the walker's view, and below a lamp and the time.

    The lamp is green after a reward and red after a punishment.

    Args:
      height: height of the picture.
      time, max_steps_in_episode: int32 ().
      pos, goal: row and column, int32 (2,).
      last_reward: float32 ().
      walls: where walls and pillars are, bool (side, side).
      rf_size: number of rows and columns that the walker sees.
    """
    side = len(walls)
    _, board = figures.board(side, side)
    foot = side / 11
    window = painting.Window.around(
        (-0.5, side + 0.5), (-1.5 * foot, side + 0.5), (side + 1) / (side + 0.5 + 1.5 * foot)
    )
    at = _cell(pos, side)
    lamp = figures.either(last_reward < 0, painting.RED, painting.SHADE)
    lamp = figures.either(last_reward > 0, painting.GREEN, lamp)
    sight = painting.box(at, (rf_size - 0.14, rf_size - 0.14), corner=0.13)
    return painting.paint(
        height,
        window,
        board,
        (figures.tiles(np.ones(walls.shape, np.bool_)), painting.shades(walls, painting.PAPER, painting.STONE)),
        (painting.outline(sight, 0.14), painting.INK),
        (figures.tile(_cell(goal, side)), painting.GREEN),
        figures.walker(at, 0.4),
        (painting.circle((0.5 * foot, -0.75 * foot), 0.4 * foot), lamp),
        *figures.gauge((1.5 * foot, -0.75 * foot), side - 1.8 * foot, time / max_steps_in_episode, width=0.3 * foot),
    )


def _flag() -> painting.Shape:
    """A flag on its pole, centered on (0, 0)."""
    pole = painting.box((-0.12, 0.0), (0.06, 0.7))
    return painting.union(pole, painting.polygon((-0.12, 0.05), (0.28, 0.2), (-0.12, 0.35)))


def _cell(place: jax.Array, rows: int) -> painting.Point:
    """Returns the center of the cell in row `place[0]` and column `place[1]`."""
    return figures.cell(place[0], place[1], rows)


# The plane.


@painting.picture
def paint_point_robot(
    height: int,
    time: jax.Array,
    pos: jax.Array,
    goal: jax.Array,
    last_action: jax.Array,
    last_reward: jax.Array,
    max_force: FloatParam,
    circle_radius: FloatParam,
    goal_radius: FloatParam,
    dense_reward: BoolParam,
) -> jax.Array:
    """Paints the half circle of goals, the goal with its radius (bright if just reached), the robot and its last move.

    The move is a tail behind the robot, pointing back to where it came from. The width is 3/2 of the height.
    """
    radius = circle_radius
    x, y = pos[0], pos[1]
    center = goal[0], goal[1]
    margin = 0.1 * radius
    side = _greatest(1.5 * radius, 1.1 * jnp.abs(x) + margin, jnp.abs(center[0]) + goal_radius + margin)
    high = _greatest(1.35 * radius, 1.1 * y + margin, center[1] + goal_radius + margin)
    depth = _greatest(0.5 * radius, margin - 1.1 * y, goal_radius - center[1] + margin)
    window = painting.Window.around((-side, side), (-depth, high), aspect=1.5)
    distance = jnp.where(dense_reward, -last_reward, jnp.where(last_reward > 0, 0.0, jnp.inf))
    reached = (distance <= goal_radius) & (time > 0)
    size = 0.045 * window.height
    share = jnp.clip(last_action / max_force, -1, 1) * 4 * size
    tail = painting.segment((x - share[0], y - share[1]), (x, y), 0.45 * size)
    return painting.paint(
        height,
        window,
        (painting.arc((0.0, 0.0), radius, 0.0, np.pi, 0.05 * radius), painting.SHADE),
        (painting.circle(center, goal_radius), figures.either(reached, painting.GREEN, _PALE_GREEN)),
        (painting.circle(center, 0.06 * radius), painting.GREEN),
        (painting.shown(tail, ~reached), _PALE_BLUE),
        (painting.circle((x, y), size), painting.BLUE),
        (painting.text("GOAL", (center[0] - 1.5 * size, center[1] + goal_radius + 0.5 * size), size), painting.INK),
    )


@painting.picture
def paint_reacher(
    height: int,
    angles: jax.Array,
    goal_xy: jax.Array,
    link_lengths: ArrayParam,
    goal_low: ArrayParam,
    goal_high: ArrayParam,
) -> jax.Array:
    """Paints the arm with alternating blue and orange links, the circle that it can reach, and the goal. Square."""
    reach = jnp.abs(link_lengths).sum()
    side = 1.08 * _greatest(reach, *jnp.abs(goal_low), *jnp.abs(goal_high))
    x = jnp.cumsum(link_lengths * trig.cos(angles))
    y = jnp.cumsum(link_lengths * trig.sin(angles))
    joints: list[painting.Point] = [(0.0, 0.0), *zip(x, y, strict=True)]
    width = side * 0.045
    links = [painting.segment(start, end, width) for start, end in itertools.pairwise(joints)]
    return painting.paint(
        height,
        painting.Window.around((-side, side), (-side, side)),
        (painting.arc((0.0, 0.0), reach, 0.0, 2 * np.pi, 0.3 * width), painting.SHADE),
        (painting.circle((0.0, 0.0), 2 * width), painting.STONE),
        (painting.circle((goal_xy[0], goal_xy[1]), 2 * width), painting.GREEN),
        (painting.union(*links[::2]), painting.BLUE),
        *[(painting.union(*links[1::2]), painting.ORANGE)][: len(links) - 1],
        (painting.union(*[painting.circle(joint, 0.5 * width) for joint in joints[:-1]]), painting.INK),
    )


@painting.picture
def paint_swimmer(
    height: int,
    xy: jax.Array,
    xy_vel: jax.Array,
    goal_xy: jax.Array,
    urchin_xys: jax.Array,
    goal_low: ArrayParam,
    goal_high: ArrayParam,
    urchin_low: ArrayParam,
    urchin_high: ArrayParam,
) -> jax.Array:
    """Paints the swimmer, heading in its direction of motion, the goal, and the urchins with their range. Square."""
    x, y = xy[0], xy[1]
    bounds = [goal_low, goal_high, urchin_low.reshape(-1), urchin_high.reshape(-1)]
    side = _greatest(1.15 * jnp.abs(jnp.concatenate(bounds)).max(), 1.2 * jnp.abs(x), 1.2 * jnp.abs(y))
    fish = painting.placed(_fish(0.15 * side), (x, y), jnp.arctan2(xy_vel[1], xy_vel[0]))
    return painting.paint(
        height,
        painting.Window.around((-side, side), (-side, side)),
        (painting.circle((goal_xy[0], goal_xy[1]), jnp.maximum(0.1, 0.04 * side)), painting.GREEN),
        *[(_urchins(urchin_xys, jnp.maximum(0.18, 0.06 * side)), painting.RED)][: len(urchin_xys)],
        (fish, painting.ORANGE),
        background=_WATER,
    )


def _greatest(*numbers: ArrayLike) -> jax.Array:
    return functools.reduce(jnp.maximum, [jnp.asarray(each) for each in numbers])


def _fish(length: painting.Number) -> painting.Shape:
    """A fish that swims to the right, from `-length` to `length`."""
    radius, off = 0.85 * length, 0.47 * length  # of the two discs whose intersection is the body
    tail = painting.polygon((-0.1 * length, 0.0), (-length, 0.5 * length), (-length, -0.5 * length))

    def body(x: jax.Array, y: jax.Array) -> jax.Array:
        return painting.circle((0.3 * length, -off), radius)(x, jnp.abs(y))

    return painting.union(body, tail)


def _urchins(places: jax.Array, size: jax.Array) -> painting.Shape:
    """Stars at points, float32 (n, 2), with eight spikes that end at `size` from the center."""
    core, spike = 0.45 * size, 0.55 * size

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        dx, dy = x - places[0, 0], y - places[0, 1]
        for place in places[1:]:
            other_x, other_y = x - place[0], y - place[1]
            nearer = other_x**2 + other_y**2 < dx**2 + dy**2
            dx, dy = jnp.where(nearer, other_x, dx), jnp.where(nearer, other_y, dy)
        radius = jnp.maximum(jnp.sqrt(dx * dx + dy * dy), np.float32(1e-6))
        cosine, sine = dx / radius, dy / radius
        for _ in range(2):  # doubles the angle
            cosine, sine = cosine * cosine - sine * sine, 2 * cosine * sine
        slope = 4 * spike * cosine / radius  # slope of the edge, which makes the distance shorter
        star = (radius - core - spike * (1 - jnp.abs(sine))) * lax.rsqrt(1 + slope * slope)
        return jnp.minimum(star, radius - core)  # the slope is unbounded at the center

    return distance


# Pong.


@painting.picture
def paint_pong(
    height: int,
    ball_position: jax.Array,
    last_ball_position: jax.Array,
    paddle_centers: jax.Array,
    agent_plays_both: BoolParam,
    *,
    size: tuple[int, int],
    paddle_half_height: int,
) -> jax.Array:
    """Paints the court, the paddles (the agent's in orange), and the ball with a trail from its previous position.

    Args:
      height: height of the picture.
      ball_position, last_ball_position: row and column, float32 (2,).
      paddle_centers: rows of the left and the right paddle, float32 (2,).
      agent_plays_both: whether the agent also plays the right paddle, bool ().
      size: numbers of rows and columns of the court.
      paddle_half_height: number of rows of a paddle on either side of its center.
    """
    rows, columns = size
    window = painting.Window.around((-1.0, columns + 1.0), (-1.5, rows + 1.5), (columns + 2) / (rows + 3))
    ball, trail = (_square(place, rows) for place in (ball_position, last_ball_position))
    left, right = (
        _paddle(column, center, rows, paddle_half_height)
        for column, center in ((0, paddle_centers[0]), (columns - 1, paddle_centers[1]))
    )
    return painting.paint(
        height,
        window,
        (_dashes(columns / 2, rows), _LINE),
        (
            painting.union(*[painting.box((columns / 2, y), (columns + 2.0, 0.8)) for y in (-0.9, rows + 0.9)]),
            painting.STONE,
        ),
        (left, painting.ORANGE),
        (right, figures.either(agent_plays_both, painting.ORANGE, painting.PAPER)),
        (trail, _LINE),
        (ball, painting.YELLOW),
        background=painting.INK,
    )


def _paddle(column: int, center: jax.Array, rows: int, half: int) -> painting.Shape:
    """A paddle of whole cells. Off the board it is clipped to the edge."""
    top, bottom = (jnp.clip(edge, 0, rows - 1) for edge in (center - half, center + half))
    bottom = bottom + 1
    return painting.box((column + 0.5, rows - (top + bottom) / 2), (1.0, bottom - top))


def _square(place: jax.Array, rows: int) -> painting.Shape:
    return painting.box((place[1] + 0.5, rows - 0.5 - place[0]), (1.4, 1.4))


def _dashes(x: painting.Number, rows: int) -> painting.Shape:
    """The dashed center line. Dashes and gaps are one and a half rows long."""

    def distance(across: jax.Array, y: jax.Array) -> jax.Array:
        along = jnp.abs(y / 3 - jnp.floor(y / 3) - np.float32(0.5)) * 3 - np.float32(0.75)
        line = jnp.maximum(along, jnp.abs(across - np.float32(x)) - np.float32(0.15))
        return jnp.maximum(line, jnp.maximum(-y, y - np.float32(rows)))

    return distance
