"""Pictures of bandits: arms as columns, the last pulled arm above an orange disc, its payment as a yellow coin.

`time` and `last_action` are int32 (), the other numbers float32 () unless noted.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting
from envcore.painting import figures
from envcore.typing import FloatParam, IntParam

_BELOW, _ABOVE = 0.9, 0.55  # from the lower edge to the columns, and from the columns to the upper edge


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
    """The probability that each arm pays, float32 (arms,), the best in green, and a coin above the arm that just paid.

    The width is the height or more, up to twice as much for many arms.
    """
    num_arms = len(reward_probs)
    window, full = _room(num_arms)
    is_best = reward_probs >= exp_reward_best
    return painting.paint(
        height,
        window,
        (figures.bars(np.full(num_arms, full)), painting.SHADE),
        (figures.bars(full * reward_probs), figures.by_column(is_best, painting.GREEN, painting.BLUE)),
        *_pull(full + 0.3, last_action, time > 0, last_reward > 0),
        *_time(num_arms, time / max_steps_in_episode),
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
    """The mean of the risky arm above or below the safe one's 0, and the last reward at its height.

    The columns reach two standard deviations of mean and reward beyond the mean of means; a square.
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
        *_pull(level(last_reward), last_action, time > 0, True),
        *_time(2, time / max_steps_in_episode),
    )


def _room(num_arms: int) -> tuple[painting.Window, float]:
    """The window around columns one unit apart with y = 0 at the bottom, and their greatest height."""
    height = max(3.0, (num_arms + 0.6) / 2)
    width = max(num_arms + 0.6, height)
    return painting.Window((num_arms / 2, height / 2 - _BELOW), height, width / height), height - _BELOW - _ABOVE


def _pull(
    level: painting.Number, last_action: jax.Array, begun: jax.Array, paid: jax.Array | bool
) -> list[figures.Layer]:
    """The disc below the last pulled arm and the coin at a level; neither before the first pull."""
    arm = last_action.astype(jnp.float32) + 0.5
    coin = (arm, level)
    return [
        (painting.shown(painting.circle((arm, -0.27), 0.18), begun), painting.ORANGE),
        (painting.shown(painting.circle(coin, 0.2), begun & paid), painting.INK),
        (painting.shown(painting.circle(coin, 0.16), begun & paid), painting.YELLOW),
    ]


def _time(num_arms: int, share: jax.Array) -> list[figures.Layer]:
    return figures.gauge((0.15, -0.63), num_arms - 0.3, share)
