"""Pictures of cart-pole, its swing-up and mountain car: uint8 (height, width, 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from envcore import painting, trig
from envcore.painting import figures

if TYPE_CHECKING:
    from envcore_bsuite.cartpole import CartPoleParams, CartPoleState
    from envcore_bsuite.cartpole_swingup import CartPoleSwingupParams, CartPoleSwingupState
    from envcore_bsuite.mountain_car import MountainCarParams, MountainCarState

_HINGE = 0.2  # its height in `figures.cart_and_pole`


@painting.picture
def paint_cartpole(state: CartPoleState, params: CartPoleParams, height: int) -> jax.Array:
    """The cart on its rail, which ends at `x_threshold`, and the line that the pole's tip must stay above.

    The width is twice the height.
    """
    end, pole = params.x_threshold, 2 * params.length
    window = painting.Window.around(x=(-end - 0.5, end + 0.5), y=(-0.55, jnp.maximum(pole, 1.0) + 0.8), aspect=2.0)
    return painting.paint(
        height,
        window,
        (painting.below(-0.19), painting.SHADE),
        (_line(params), painting.GREEN),
        *figures.cart_and_pole(state.x, state.theta, pole, rail_end=end),
    )


@painting.picture
def paint_cartpole_swingup(state: CartPoleSwingupState, params: CartPoleSwingupParams, height: int) -> jax.Array:
    """The cart on its rail, the line to swing the pole above, and a pale zone in which the cart gets a reward.

    The pole's tip lights up where it is up, in the zone and slow enough to earn one. The width is twice the height.
    """
    end, pole, near = params.x_threshold, 2 * params.length, params.x_reward_threshold
    reach = pole + _HINGE + 0.2
    window = painting.Window.around(x=(-end - 0.5, end + 0.5), y=(-reach, reach), aspect=2.0)
    sine, cosine = trig.sin(state.theta), trig.cos(state.theta)
    is_slow = jnp.abs(state.theta_dot) < params.theta_dot_threshold
    earns = (cosine > params.height_threshold) & (jnp.abs(state.x) < near) & is_slow
    tip = (state.x + pole * sine, _HINGE + pole * cosine)
    return painting.paint(
        height,
        window,
        (painting.box((0.0, 0.0), (2 * near, 3 * window.height)), painting.SHADE),
        (_line(params), painting.GREEN),
        *figures.cart_and_pole(state.x, state.theta, pole, rail_end=end),
        (painting.shown(painting.circle(tip, 0.14), earns), painting.GREEN),
    )


@painting.picture
def paint_mountain_car(state: MountainCarState, params: MountainCarParams, height: int) -> jax.Array:
    """The hill, a wall at its left end, the car and a flag at `goal_position`; width is 3/2 of the height."""
    window, layers = figures.car_on_hill(state.position, params.goal_position, params.min_position, params.max_position)
    return painting.paint(height, window, *layers)


def _line(params: Any) -> painting.Shape:
    """A line at the height that the pole's tip must reach, as long as the rail."""
    return painting.box((0.0, _HINGE + 2 * params.length * params.height_threshold), (2 * params.x_threshold, 0.08))
