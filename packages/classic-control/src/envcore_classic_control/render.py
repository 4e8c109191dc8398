"""Pictures of the classic control environments: `draw_*(state, params, height) -> uint8 (height, width, 3)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from envcore import draw, trig

if TYPE_CHECKING:
    from envcore_classic_control.acrobot import AcrobotParams, AcrobotState
    from envcore_classic_control.cartpole import CartPoleParams, CartPoleState
    from envcore_classic_control.mountain_car import MountainCarParams, MountainCarState
    from envcore_classic_control.mountain_car_continuous import MountainCarContinuousParams
    from envcore_classic_control.pendulum import PendulumParams, PendulumState


@draw.picture
def draw_cartpole(state: CartPoleState, params: CartPoleParams, height: int) -> jax.Array:
    """The cart on its rail, which ends at `x_threshold`, and the pole at its full length; width is twice the height."""
    end = params.x_threshold
    pole = 2 * params.length
    window = draw.Window.around(x=(-end - 0.5, end + 0.5), y=(-0.55, jnp.maximum(pole, 1.0) + 0.8), aspect=2.0)
    hinge = (state.x, 0.2)
    tip = (state.x + pole * trig.sin(state.theta), 0.2 + pole * trig.cos(state.theta))
    stops = [draw.box((x, -0.1), (0.08, 0.3), corner=0.03) for x in (-end - 0.37, end + 0.37)]
    wheels = [draw.circle((state.x + side, -0.1), 0.09) for side in (-0.17, 0.17)]
    return draw.paint(
        height,
        window,
        (draw.below(-0.19), draw.SHADE),
        (draw.union(draw.box((0.0, -0.22), (2 * end + 0.92, 0.06), corner=0.03), *stops), draw.STONE),
        (draw.union(*wheels), draw.INK),
        (draw.box((state.x, 0.08), (0.64, 0.3), corner=0.06), draw.BLUE),
        (draw.segment(hinge, tip, 0.065), draw.ORANGE),
        (draw.circle(hinge, 0.035), draw.INK),
    )


@draw.picture
def draw_pendulum(state: PendulumState, params: PendulumParams, height: int) -> jax.Array:
    """The rod, the circle that its end moves on, and the last torque as an arrow round the hinge; a square."""
    reach = jnp.maximum(params.l, 1.0) + 0.2
    window = draw.Window.around(x=(-reach, reach), y=(-reach, reach))
    tip = (-params.l * trig.sin(state.theta), params.l * trig.cos(state.theta))
    return draw.paint(
        height,
        window,
        (draw.arc((0.0, 0.0), params.l, 0.0, 2 * np.pi, 0.03), draw.SHADE),
        (draw.circle((0.0, params.l), 0.05), draw.GREEN),
        (draw.segment((0.0, 0.0), tip, 0.09), draw.RED),
        (draw.circle((0.0, 0.0), 0.04), draw.INK),
        (_torque(state.last_u / params.max_torque), draw.BLUE),
    )


def _torque(share: jax.Array) -> draw.Shape:
    """An arrow from the bottom, counter-clockwise for a positive share of the largest torque; none for 0."""
    radius, start, sweep = 0.4, -np.pi / 2, 2.5 * share
    size = jnp.minimum(jnp.abs(share) * 4, 1.0)  # a weak torque's arrow is slender as well as short
    line = draw.arc((0.0, 0.0), radius, start, sweep, 0.06 * size)
    head = draw.polygon((0.0, 0.14 * size), (-0.11 * size, 0.0), (0.11 * size, 0.0))
    end = start + sweep
    turn = jnp.where(share < 0, np.pi, 0.0)
    head = draw.placed(head, (radius * trig.cos(end), radius * trig.sin(end)), end + turn)
    return draw.shown(draw.union(line, head), share != 0)


@draw.picture
def draw_acrobot(state: AcrobotState, params: AcrobotParams, height: int) -> jax.Array:
    """The two links, hanging from the first joint, and the line that the tip has to reach; a square."""
    reach = params.link_length_1 + params.link_length_2 + 0.25
    window = draw.Window.around(x=(-reach, reach), y=(-reach, reach))
    angle = state.joint_angle1 + state.joint_angle2
    elbow = (params.link_length_1 * trig.sin(state.joint_angle1), -params.link_length_1 * trig.cos(state.joint_angle1))
    tip = (elbow[0] + params.link_length_2 * trig.sin(angle), elbow[1] - params.link_length_2 * trig.cos(angle))
    goal = (params.link_length_1 + params.link_length_2) / 2  # the rule counts in lengths of a link
    return draw.paint(
        height,
        window,
        (draw.box((0.0, goal), (2 * reach, 0.07)), draw.GREEN),
        (draw.segment((0.0, 0.0), elbow, 0.11), draw.BLUE),
        (draw.segment(elbow, tip, 0.11), draw.ORANGE),
        (draw.union(draw.circle((0.0, 0.0), 0.06), draw.circle(elbow, 0.06)), draw.INK),
    )


@draw.picture
def draw_mountain_car(
    state: MountainCarState, params: MountainCarParams | MountainCarContinuousParams, height: int
) -> jax.Array:
    """The hill, a wall at its left end, the car and a flag at `goal_position`; width is 3/2 of the height."""
    low, high = params.min_position, params.max_position
    window = draw.Window.around(x=(low - 0.2, high + 0.15), y=(-0.05, 1.35), aspect=1.5)
    wall = draw.box((low - 0.14, _hill(low) + 0.1), (0.05, 0.5), corner=0.02)
    foot = (params.goal_position, _hill(params.goal_position))
    x, top = foot[0], foot[1] + 0.28
    flag = draw.polygon((x, top), (x, top - 0.12), (x + 0.15, top - 0.06))
    bodywork = draw.union(
        draw.box((0.0, 0.075), (0.25, 0.065), corner=0.025), draw.box((-0.015, 0.115), (0.13, 0.08), corner=0.03)
    )
    wheels = draw.union(draw.circle((-0.075, 0.037), 0.037), draw.circle((0.075, 0.037), 0.037))
    place = (state.position, _hill(state.position))
    slope = jnp.arctan(3 * 0.45 * trig.cos(3 * state.position))
    return draw.paint(
        height,
        window,
        (wall, draw.STONE),
        (draw.segment(foot, (x, top), 0.012), draw.INK),
        (flag, draw.RED),
        (draw.under(_hill), draw.GREEN),
        (draw.placed(bodywork, place, slope), draw.BLUE),
        (draw.placed(wheels, place, slope), draw.INK),
    )


def _hill(position: jax.Array) -> jax.Array:
    return 0.55 + 0.45 * trig.sin(3 * position)
