"""CartPoleSwingup: its rules, one case per line, lockstep with the original, and our additions."""

from __future__ import annotations

from typing import Any

import bsuite_lockstep as lockstep
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bsuite_physics import CARTPOLE_SWINGUP
from envcore_bsuite.cartpole_swingup import CartPoleSwingup
from rules import check_rule, rules

RECORDINGS = [f"cartpole_swingup.setting{number}" for number in (0, 10, 19)]


LEFT, STAY, RIGHT = range(3)
PI = np.pi
OUT = {"x": 2.995, "x_dot": 1}  # leaves the limits in this step
UPRIGHT = {"episode_upright": 1, "total_upright": 1}
PUSHED = {"episode_moves": 1, "total_moves": 1}


# A push of 10 N accelerates the cart by 400/41 m/s^2, and the hanging pole by 600/41 rad/s^2, for 0.01 s.
@rules(
    ("the hanging pole earns nothing", {"theta": PI}, STAY, None, {}, 0, False),
    ("right pushes", {"theta": PI}, RIGHT, None, {"x_dot": 4 / 41, "theta_dot": 6 / 41, **PUSHED}, -0.1, False),
    ("left pushes", {"theta": PI}, LEFT, None, {"x_dot": -4 / 41, "theta_dot": -6 / 41, **PUSHED}, -0.1, False),
    ("the upright pole earns 1", {}, STAY, None, UPRIGHT, 1, False),
    ("less the cost of a push", {}, RIGHT, None,
     {"x_dot": 4 / 41, "theta_dot": -6 / 41, **UPRIGHT, **PUSHED}, 0.9, False),
    ("a pole on its side falls with 14.7 rad/s^2", {"theta": PI / 2}, STAY, None, {"theta_dot": 0.147}, 0, False),
)  # fmt: skip
def test_rules(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(CartPoleSwingup(), before, action, draws, after, reward, end)


# Nothing accelerates: only rewards and ends are left.
@rules(
    ("a tip above half the length", {"theta": PI / 3 - 0.01}, STAY, None, UPRIGHT, 1, False),
    ("a tip below", {"theta": PI / 3 + 0.01}, STAY, None, {}, 0, False),
    ("near the center", {"x": -0.99}, STAY, None, UPRIGHT, 1, False),
    ("not near the center", {"x": -1.01}, STAY, None, {}, 0, False),
    ("slow", {"theta_dot": -0.99}, STAY, None, {"theta": 2 * PI - 0.0099, **UPRIGHT}, 1, False),
    ("not slow", {"theta_dot": -1.01}, STAY, None, {"theta": 2 * PI - 0.0101}, 0, False),
    ("a push costs 0.1", {"theta": PI}, LEFT, None, PUSHED, -0.1, False),
    ("rewards and pushes add up",
     {"episode_upright": 2, "total_upright": 5, "episode_moves": 3, "total_moves": 9}, LEFT, None,
     {"episode_upright": 3, "total_upright": 6, "episode_moves": 4, "total_moves": 10}, 0.9, False),
    ("a cart outside ends it", OUT, STAY, None, {"x": 3.005}, 0, True),
    ("also on the left", {"x": -2.995, "x_dot": -1}, STAY, None, {"x": -3.005}, 0, True),
    ("the best episode", {**OUT, "episode_upright": 8, "episode_moves": 30}, STAY, None,
     {"x": 3.005, "best_episode": 5}, 0, True),
    ("is not below 0", {**OUT, "episode_moves": 30}, STAY, None, {"x": 3.005, "best_episode": 0}, 0, True),
    ("it is not yet beyond 10 s", {"time": 999}, STAY, None, UPRIGHT, 1, False),
    ("now it is", {"time": 1000}, STAY, None, {**UPRIGHT, "best_episode": 1}, 1, True),
)  # fmt: skip
def test_rewards_and_ends(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    still = {"gravity": 0, "mass_pole": 0, "force_mag": 0}
    check_rule(CartPoleSwingup(), before, action, draws, after, reward, end, **still)


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_recorded_step(name: str) -> None:
    assert lockstep.check_recorded(name, CARTPOLE_SWINGUP) == 0


def test_recorded_resets() -> None:
    lockstep.check_resets(RECORDINGS[0], CARTPOLE_SWINGUP)


def swings_up(key: jax.Array, state: Any, params: Any) -> jax.Array:
    """Pumps energy into the pole, not too far from the center, and balances it where it stands."""
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


def test_a_long_life_loses_no_precision() -> None:
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
