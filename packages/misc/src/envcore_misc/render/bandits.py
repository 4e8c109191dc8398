"""Pictures of bandits: arms as columns, the last pulled arm above an orange disc, its payment as a yellow coin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting
from envcore.painting import figures

if TYPE_CHECKING:
    from envcore_misc.bernoulli_bandit import BernoulliBanditParams, BernoulliBanditState
    from envcore_misc.gaussian_bandit import GaussianBanditParams, GaussianBanditState

_BELOW, _ABOVE = 0.9, 0.55  # from the lower edge to the columns, and from the columns to the upper edge


@painting.picture
def paint_bernoulli_bandit(state: BernoulliBanditState, params: BernoulliBanditParams, height: int) -> jax.Array:
    """The probability that each arm pays, the best in green, and a coin above the arm that just paid.

    The width is the height or more, up to twice as much for many arms.
    """
    num_arms = len(state.reward_probs)
    window, full = _room(num_arms)
    is_best = state.reward_probs >= state.exp_reward_best
    return painting.paint(
        height,
        window,
        (figures.bars(np.full(num_arms, full)), painting.SHADE),
        (figures.bars(full * state.reward_probs), figures.by_column(is_best, painting.GREEN, painting.BLUE)),
        *_pull(full + 0.3, state, state.last_reward > 0),
        *_time(num_arms, state, params),
    )


@painting.picture
def paint_gaussian_bandit(state: GaussianBanditState, params: GaussianBanditParams, height: int) -> jax.Array:
    """The mean of the risky arm above or below the safe one's 0, and the last reward at its height.

    The columns reach two standard deviations of mean and reward beyond the mean of means; a square.
    """
    window, full = _room(2)
    largest = jnp.abs(params.mean_mu) + 2 * (params.sigma_p + params.sigma_l)
    middle, scale = full / 2, full / 2 / jnp.maximum(largest, np.float32(1e-6))

    def level(value: jax.Array) -> jax.Array:
        return middle + jnp.clip(scale * value, -full / 2, full / 2)

    mean = (1.5, (middle + level(state.mu)) / 2), (0.7, jnp.abs(level(state.mu) - middle))
    return painting.paint(
        height,
        window,
        (figures.bars(np.full(2, full)), painting.SHADE),
        (painting.box(*mean), figures.either(state.mu > 0, painting.GREEN, painting.RED)),
        (painting.segment((0.0, middle), (2.0, middle), 0.02), painting.STONE),
        (painting.segment((0.2, middle), (0.8, middle), 0.05), painting.BLUE),
        *_pull(level(state.last_reward), state, True),
        *_time(2, state, params),
    )


def _room(num_arms: int) -> tuple[painting.Window, float]:
    """The window around columns one unit apart with y = 0 at the bottom, and their greatest height."""
    height = max(3.0, (num_arms + 0.6) / 2)
    width = max(num_arms + 0.6, height)
    return painting.Window((num_arms / 2, height / 2 - _BELOW), height, width / height), height - _BELOW - _ABOVE


def _pull(level: Any, state: Any, paid: Any) -> list[figures.Layer]:
    """The disc below the last pulled arm and the coin at a level; neither before the first pull."""
    begun = state.time > 0
    arm = state.last_action.astype(jnp.float32) + 0.5
    coin = (arm, level)
    return [
        (painting.shown(painting.circle((arm, -0.27), 0.18), begun), painting.ORANGE),
        (painting.shown(painting.circle(coin, 0.2), begun & paid), painting.INK),
        (painting.shown(painting.circle(coin, 0.16), begun & paid), painting.YELLOW),
    ]


def _time(num_arms: int, state: Any, params: Any) -> list[figures.Layer]:
    return figures.gauge((0.15, -0.63), num_arms - 0.3, state.time / params.max_steps_in_episode)
