"""Pictures of the classic control environments: `paint_*(height, *numbers) -> uint8 (height, width, 3)`.

Every number is a float32 () with the same name and unit as in the state or the params.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting, trig
from envcore.painting import figures
from envcore.typing import FloatParam


@painting.picture
def paint_cartpole(
    height: int, x: jax.Array, theta: jax.Array, length: FloatParam, x_threshold: FloatParam
) -> jax.Array:
    """Paints the cart on its rail, which ends at `x_threshold`, and the pole. The width is twice the height.

    If the rail has no end, the picture follows the cart.
    """
    is_endless, pole = jnp.isinf(x_threshold), 2 * length
    x, end = jnp.where(is_endless, 0.0, x), jnp.where(is_endless, 2.4, x_threshold)
    window = painting.Window.around(x=(-end - 0.5, end + 0.5), y=(-0.55, jnp.maximum(pole, 1.0) + 0.8), aspect=2.0)
    cart = figures.cart_and_pole(x, theta, pole, rail_end=end)
    return painting.paint(height, window, (painting.half_plane(-0.19), painting.SHADE), *cart)


@painting.picture
def paint_pendulum(
    height: int, theta: jax.Array, last_u: jax.Array, length: FloatParam, max_torque: FloatParam
) -> jax.Array:
    """Paints the rod, the circle of its end, and the last torque as an arrow around the hinge. Square."""
    reach = jnp.maximum(length, 1.0) + 0.2
    window = painting.Window.around(x=(-reach, reach), y=(-reach, reach))
    tip = (-length * trig.sin(theta), length * trig.cos(theta))
    return painting.paint(
        height,
        window,
        (painting.arc((0.0, 0.0), length, 0.0, 2 * np.pi, 0.03), painting.SHADE),
        (painting.circle((0.0, length), 0.05), painting.GREEN),
        (painting.segment((0.0, 0.0), tip, 0.09), painting.RED),
        (painting.circle((0.0, 0.0), 0.04), painting.INK),
        (_torque(last_u / max_torque), painting.BLUE),
    )


def _torque(share: jax.Array) -> painting.Shape:
    """An arrow from the bottom, counter-clockwise for a positive `share` of the largest torque. Nothing for 0."""
    radius, start, sweep = 0.4, -np.pi / 2, 2.5 * share
    size = jnp.minimum(jnp.abs(share) * 4, 1.0)  # makes the arrow of a weak torque thin as well as short
    line = painting.arc((0.0, 0.0), radius, start, sweep, 0.06 * size)
    head = painting.polygon((0.0, 0.14 * size), (-0.11 * size, 0.0), (0.11 * size, 0.0))
    end = start + sweep
    turn = jnp.where(share < 0, np.pi, 0.0)
    head = painting.placed(head, (radius * trig.cos(end), radius * trig.sin(end)), end + turn)
    return painting.shown(painting.union(line, head), share != 0)


@painting.picture
def paint_acrobot(
    height: int, joint_angle1: jax.Array, joint_angle2: jax.Array, link_length_1: FloatParam, link_length_2: FloatParam
) -> jax.Array:
    """Paints the two links, hanging from the first joint, and the line that the tip has to reach. Square."""
    reach = link_length_1 + link_length_2 + 0.25
    window = painting.Window.around(x=(-reach, reach), y=(-reach, reach))
    angle = joint_angle1 + joint_angle2
    elbow = (link_length_1 * trig.sin(joint_angle1), -link_length_1 * trig.cos(joint_angle1))
    tip = (elbow[0] + link_length_2 * trig.sin(angle), elbow[1] - link_length_2 * trig.cos(angle))
    goal = (link_length_1 + link_length_2) / 2  # the rule for the goal uses link lengths of 1
    return painting.paint(
        height,
        window,
        (painting.box((0.0, goal), (2 * reach, 0.07)), painting.GREEN),
        (painting.segment((0.0, 0.0), elbow, 0.11), painting.BLUE),
        (painting.segment(elbow, tip, 0.11), painting.ORANGE),
        (painting.union(painting.circle((0.0, 0.0), 0.06), painting.circle(elbow, 0.06)), painting.INK),
    )


@painting.picture
def paint_mountain_car(
    height: int,
    position: jax.Array,
    goal_position: FloatParam,
    min_position: FloatParam,
    max_position: FloatParam,
    *,
    force: str,
) -> jax.Array:
    """Paints the hill, a wall at its left end, the car and a flag at `goal_position`. Its aspect ratio is 3 to 2.

    `force` is the text at the foot of the hill, in capital letters.
    """
    window, layers = figures.car_on_hill(position, goal_position, min_position, max_position)
    words = painting.text(force, (max_position - 0.75, 0.03), 0.06), painting.PAPER
    return painting.paint(height, window, *layers, words)
