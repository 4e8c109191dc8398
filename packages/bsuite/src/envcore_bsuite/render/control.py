"""Pictures of cart-pole, its swing-up and mountain car: uint8 (height, width, 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from envcore import draw, figures, trig

if TYPE_CHECKING:
    from envcore_bsuite.cartpole import CartPoleParams, CartPoleState
    from envcore_bsuite.cartpole_swingup import CartPoleSwingupParams, CartPoleSwingupState
    from envcore_bsuite.mountain_car import MountainCarParams, MountainCarState

_HINGE = 0.2  # its height in `figures.cart_and_pole`


@draw.picture
def draw_cartpole(state: CartPoleState, params: CartPoleParams, height: int) -> jax.Array:
    """The cart on its rail, which ends at `x_threshold`, and the line that the pole's tip must stay above.

    The width is twice the height.
    """
    end, pole = params.x_threshold, 2 * params.length
    window = draw.Window.around(x=(-end - 0.5, end + 0.5), y=(-0.55, jnp.maximum(pole, 1.0) + 0.8), aspect=2.0)
    return draw.paint(
        height,
        window,
        (draw.below(-0.19), draw.SHADE),
        (_line(params), draw.GREEN),
        *figures.cart_and_pole(state.x, state.theta, pole, rail_end=end),
    )


@draw.picture
def draw_cartpole_swingup(state: CartPoleSwingupState, params: CartPoleSwingupParams, height: int) -> jax.Array:
    """The cart on its rail, the line to swing the pole above, and a pale zone where the cart has to be for a reward.

    The pole's tip lights up where it is up, in the zone and slow enough to earn one. The width is twice the height.
    """
    end, pole, near = params.x_threshold, 2 * params.length, params.x_reward_threshold
    reach = pole + _HINGE + 0.2
    window = draw.Window.around(x=(-end - 0.5, end + 0.5), y=(-reach, reach), aspect=2.0)
    sine, cosine = trig.sin(state.theta), trig.cos(state.theta)
    is_slow = jnp.abs(state.theta_dot) < params.theta_dot_threshold
    earns = (cosine > params.height_threshold) & (jnp.abs(state.x) < near) & is_slow
    tip = (state.x + pole * sine, _HINGE + pole * cosine)
    return draw.paint(
        height,
        window,
        (draw.box((0.0, 0.0), (2 * near, 3 * window.height)), draw.SHADE),
        (_line(params), draw.GREEN),
        *figures.cart_and_pole(state.x, state.theta, pole, rail_end=end),
        (draw.shown(draw.circle(tip, 0.14), earns), draw.GREEN),
    )


@draw.picture
def draw_mountain_car(state: MountainCarState, params: MountainCarParams, height: int) -> jax.Array:
    """The hill, a wall at its left end, the car and a flag at `goal_position`; width is 3/2 of the height."""
    window, layers = figures.car_on_hill(state.position, params.goal_position, params.min_position, params.max_position)
    return draw.paint(height, window, *layers)


def _line(params: Any) -> draw.Shape:
    """As high as the pole's tip must be, and as long as the rail."""
    return draw.box((0.0, _HINGE + 2 * params.length * params.height_threshold), (2 * params.x_threshold, 0.08))
