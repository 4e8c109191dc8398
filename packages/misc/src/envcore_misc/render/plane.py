"""Pictures of machines and swimmers in the plane, whose windows grow to keep them in view.

Numbers have the names, shapes and units that they have in the state or the params.
"""

from __future__ import annotations

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting, trig
from envcore.typing import ArrayParam, BoolParam, FloatParam
from jax import lax
from jax.typing import ArrayLike

_WATER: painting.Color = (205, 226, 240)
_PALE_GREEN: painting.Color = (196, 217, 196)
_PALE_BLUE: painting.Color = (160, 184, 217)


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
    """The half circle of goals, the goal with its radius, bright if just reached, the robot and its last move.

    The move is a tail behind the robot, in the direction that it came from; width is 3/2 of the height.
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
        (painting.circle(center, goal_radius), _PALE_GREEN),
        (painting.shown(painting.circle(center, goal_radius), reached), painting.GREEN),
        (painting.circle(center, 0.06 * radius), painting.GREEN),
        (painting.shown(tail, ~reached), _PALE_BLUE),
        (painting.circle((x, y), size), painting.BLUE),
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
    """The arm with alternating blue and orange links, the circle that it can reach, and the goal; a square."""
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
    """The swimmer, heading in its direction of motion, the goal, and the urchins where rewards are lost; a square."""
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
    """Stars at points, float32 (n, 2), with eight spikes that end `size` from the center."""
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
        slope = 4 * spike * cosine / radius  # of the edge, which makes the distance shorter
        star = (radius - core - spike * (1 - jnp.abs(sine))) * lax.rsqrt(1 + slope * slope)
        return jnp.minimum(star, radius - core)  # the slope is unbounded at the center

    return distance
