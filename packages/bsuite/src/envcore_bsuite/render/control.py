"""Pictures of cart-pole, its swing-up and mountain car: uint8 (height, width, 3).

Every number is a float32 () with the same name and unit as in the state or the params.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from envcore import painting, trig
from envcore.painting import Number, figures
from envcore.typing import FloatParam

_HINGE = 0.2  # height of the hinge in `figures.cart_and_pole`


@painting.picture
def paint_cartpole(
    height: int,
    x: jax.Array,
    theta: jax.Array,
    length: FloatParam,
    x_threshold: FloatParam,
    height_threshold: FloatParam,
) -> jax.Array:
    """Paints the cart on its rail, which ends at `x_threshold`, and the line that the pole's tip must stay above.

    The width is twice the height.
    """
    end, pole = x_threshold, 2 * length
    window = painting.Window.around(x=(-end - 0.5, end + 0.5), y=(-0.55, jnp.maximum(pole, 1.0) + 0.8), aspect=2.0)
    return painting.paint(
        height,
        window,
        (painting.half_plane(-0.19), painting.SHADE),
        (_line(pole * height_threshold, end), painting.GREEN),
        *figures.cart_and_pole(x, theta, pole, rail_end=end),
    )


@painting.picture
def paint_cartpole_swingup(
    height: int,
    x: jax.Array,
    theta: jax.Array,
    theta_dot: jax.Array,
    length: FloatParam,
    x_threshold: FloatParam,
    x_reward_threshold: FloatParam,
    height_threshold: FloatParam,
    theta_dot_threshold: FloatParam,
) -> jax.Array:
    """Paints the cart on its rail, the line to swing the pole above, and a pale zone in which the cart gets a reward.

    The pole's tip lights up when it is high, in the zone and slow enough for a reward. The width is twice the height.
    """
    end, pole, near = x_threshold, 2 * length, x_reward_threshold
    reach = pole + _HINGE + 0.2
    window = painting.Window.around(x=(-end - 0.5, end + 0.5), y=(-reach, reach), aspect=2.0)
    sine, cosine = trig.sin(theta), trig.cos(theta)
    is_slow = jnp.abs(theta_dot) < theta_dot_threshold
    earns = (cosine > height_threshold) & (jnp.abs(x) < near) & is_slow
    tip = (x + pole * sine, _HINGE + pole * cosine)
    return painting.paint(
        height,
        window,
        (painting.box((0.0, 0.0), (2 * near, 3 * window.height)), painting.SHADE),
        (_line(pole * height_threshold, end), painting.GREEN),
        *figures.cart_and_pole(x, theta, pole, rail_end=end),
        (painting.shown(painting.circle(tip, 0.14), earns), painting.GREEN),
    )


@painting.picture
def paint_mountain_car(
    height: int, position: jax.Array, goal_position: FloatParam, min_position: FloatParam, max_position: FloatParam
) -> jax.Array:
    """Paints the hill, a wall at its left end, the car and a flag at `goal_position`. Its aspect ratio is 3 to 2."""
    window, layers = figures.car_on_hill(position, goal_position, min_position, max_position)
    return painting.paint(height, window, *layers)


def _line(above_hinge: Number, end: Number) -> painting.Shape:
    """A line at the height that the pole's tip must reach, as long as the rail."""
    return painting.box((0.0, _HINGE + above_hinge), (2 * end, 0.08))
