"""Pictures of the classic control environments: `paint_*(state, params, height) -> uint8 (height, width, 3)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting, trig
from envcore.painting import figures

if TYPE_CHECKING:
    from envcore_classic_control.acrobot import AcrobotParams, AcrobotState
    from envcore_classic_control.cartpole import CartPoleParams, CartPoleState
    from envcore_classic_control.mountain_car import MountainCarParams, MountainCarState
    from envcore_classic_control.mountain_car_continuous import MountainCarContinuousParams
    from envcore_classic_control.pendulum import PendulumParams, PendulumState


@painting.picture
def paint_cartpole(state: CartPoleState, params: CartPoleParams, height: int) -> jax.Array:
    """The cart on its rail, which ends at `x_threshold`, and the pole at its full length; width is twice the height."""
    end = params.x_threshold
    pole = 2 * params.length
    window = painting.Window.around(x=(-end - 0.5, end + 0.5), y=(-0.55, jnp.maximum(pole, 1.0) + 0.8), aspect=2.0)
    cart = figures.cart_and_pole(state.x, state.theta, pole, rail_end=end)
    return painting.paint(height, window, (painting.below(-0.19), painting.SHADE), *cart)


@painting.picture
def paint_pendulum(state: PendulumState, params: PendulumParams, height: int) -> jax.Array:
    """The rod, the circle that its end moves on, and the last torque as an arrow around the hinge; a square."""
    reach = jnp.maximum(params.l, 1.0) + 0.2
    window = painting.Window.around(x=(-reach, reach), y=(-reach, reach))
    tip = (-params.l * trig.sin(state.theta), params.l * trig.cos(state.theta))
    return painting.paint(
        height,
        window,
        (painting.arc((0.0, 0.0), params.l, 0.0, 2 * np.pi, 0.03), painting.SHADE),
        (painting.circle((0.0, params.l), 0.05), painting.GREEN),
        (painting.segment((0.0, 0.0), tip, 0.09), painting.RED),
        (painting.circle((0.0, 0.0), 0.04), painting.INK),
        (_torque(state.last_u / params.max_torque), painting.BLUE),
    )


def _torque(share: jax.Array) -> painting.Shape:
    """An arrow from the bottom, counter-clockwise for a positive share of the largest torque; none for 0."""
    radius, start, sweep = 0.4, -np.pi / 2, 2.5 * share
    size = jnp.minimum(jnp.abs(share) * 4, 1.0)  # the arrow of a weak torque is thin as well as short
    line = painting.arc((0.0, 0.0), radius, start, sweep, 0.06 * size)
    head = painting.polygon((0.0, 0.14 * size), (-0.11 * size, 0.0), (0.11 * size, 0.0))
    end = start + sweep
    turn = jnp.where(share < 0, np.pi, 0.0)
    head = painting.placed(head, (radius * trig.cos(end), radius * trig.sin(end)), end + turn)
    return painting.shown(painting.union(line, head), share != 0)


@painting.picture
def paint_acrobot(state: AcrobotState, params: AcrobotParams, height: int) -> jax.Array:
    """The two links, hanging from the first joint, and the line that the tip has to reach; a square."""
    reach = params.link_length_1 + params.link_length_2 + 0.25
    window = painting.Window.around(x=(-reach, reach), y=(-reach, reach))
    angle = state.joint_angle1 + state.joint_angle2
    elbow = (params.link_length_1 * trig.sin(state.joint_angle1), -params.link_length_1 * trig.cos(state.joint_angle1))
    tip = (elbow[0] + params.link_length_2 * trig.sin(angle), elbow[1] - params.link_length_2 * trig.cos(angle))
    goal = (params.link_length_1 + params.link_length_2) / 2  # the rule counts in link lengths
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
    state: MountainCarState, params: MountainCarParams | MountainCarContinuousParams, height: int
) -> jax.Array:
    """The hill, a wall at its left end, the car and a flag at `goal_position`; width is 3/2 of the height."""
    window, layers = figures.car_on_hill(state.position, params.goal_position, params.min_position, params.max_position)
    return painting.paint(height, window, *layers)
