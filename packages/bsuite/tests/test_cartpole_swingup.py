"""CartPoleSwingup against the original: its recordings, the package itself, and what only we have."""

from __future__ import annotations

from typing import Any

import bsuite_lockstep as lockstep
import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bsuite_physics import CARTPOLE_SWINGUP
from envcore.testing import check_env
from envcore_bsuite.cartpole_swingup import CartPoleSwingup

RECORDINGS = [f"cartpole_swingup.setting{number}" for number in (0, 10, 19)]


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_recorded_step(name: str) -> None:
    assert lockstep.check_recorded(name, CARTPOLE_SWINGUP) == 0


def test_recorded_resets() -> None:
    lockstep.check_resets(RECORDINGS[0], CARTPOLE_SWINGUP)


def swings_up(key: jax.Array, state: Any, params: Any) -> jax.Array:
    """Pumps energy into the pole, not too far from the centre, and balances it where it stands."""
    angle = jnp.where(state.theta > np.pi, state.theta - 2 * np.pi, state.theta)
    energy = state.theta_dot**2 / 30 + jnp.cos(angle) - 1
    drift = state.x + 0.3 * state.x_dot
    pump = jnp.sign(state.theta_dot * jnp.cos(angle) * energy)
    swing = jnp.where(jnp.abs(drift) > 1.2, -jnp.sign(drift), pump)
    lean = angle + 0.2 * state.theta_dot + 0.05 * state.x + 0.1 * state.x_dot
    best = 1 + jnp.where(jnp.abs(angle) < 0.4, jnp.sign(lean), swing).astype(jnp.int32)
    return jnp.where(jax.random.bernoulli(key, 0.05), jax.random.randint(key, (), 0, 3), best)


def test_game() -> None:
    made = lockstep.make("cartpole_swingup", height_threshold=0.3, x_reward_threshold=0.7)
    game = lockstep.check_game(made, CARTPOLE_SWINGUP, swings_up, 6000)
    lengths = np.diff(np.flatnonzero(game.done), prepend=-1)
    assert (lengths == 1001).sum() >= 2
    assert (lengths < 300).sum() >= 2
    assert game.info["total_upright"][-1] > 1000
    assert game.info["best_episode"][-1] > 100
    assert game.info["raw_return"][-1] < game.info["total_upright"][-1]


def test_a_long_life_does_not_round() -> None:
    """The return after the most steps that an experiment can have."""
    env = CartPoleSwingup()
    _, state = env.reset(jax.random.key(0))
    state = state.replace(total_upright=jnp.int32(500_000), total_moves=jnp.int32(1_000_000))
    logged = env.bsuite_info(state)
    np.testing.assert_allclose(logged["raw_return"], 400_000, rtol=1e-7)
    np.testing.assert_array_equal(logged["total_upright"], np.float32(500_000))


def test_starts_hang_down() -> None:
    state = jax.vmap(CartPoleSwingup().reset)(jax.random.split(jax.random.key(0), 4000))[1]
    offsets = np.stack([state.x, state.x_dot, np.asarray(state.theta, np.float64) - np.pi, state.theta_dot])
    assert (abs(offsets) < 0.05 + 1e-6).all()
    assert (abs(offsets.mean(axis=1)) < 4 * 0.1 / (12 * 4000) ** 0.5).all()
    assert (abs(offsets.std(axis=1) - 0.1 / 12**0.5) < 0.001).all()


@pytest.mark.slow
def test_conforms() -> None:
    check_env(*envcore.make("CartPoleSwingup-bsuite"))
