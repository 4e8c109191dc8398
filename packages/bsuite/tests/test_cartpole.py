"""CartPole: its rules, one case per line, lockstep with the original, and our additions."""

from __future__ import annotations

from typing import Any

import bsuite_lockstep as lockstep
import jax
import jax.numpy as jnp
import numpy as np
from bsuite_physics import CARTPOLE
from envcore_bsuite.cartpole import CartPole
from rules import check_rule, rules

LEFT, STAY, RIGHT = range(3)
PI = np.pi
OUT = {"x": 2.995, "x_dot": 1}  # leaves the limits in this step


def up(**others: float) -> dict[str, float]:
    """The state after a step that earned 1: both returns, and other fields."""
    return {"episode_return": 1, "raw_return": 1, **others}


# With the pole upright a push of 10 N accelerates the cart by 400/41 m/s^2 and the pole by -600/41 rad/s^2, and a pole
# on its side falls with 9.8 / (1/2 * 4/3) = 14.7 rad/s^2, while the cart has 1.1 kg to move: all for 0.01 s.
@rules(
    ("at rest", {}, STAY, None, up(), 1, False),
    ("right pushes cart and pole apart", {}, RIGHT, None, up(x_dot=4 / 41, theta_dot=-6 / 41), 1, False),
    ("left does the opposite", {}, LEFT, None, up(x_dot=-4 / 41, theta_dot=6 / 41), 1, False),
    ("the cart moves by its old speed", {"x_dot": 1}, RIGHT, None,
     up(x=0.01, x_dot=45 / 41, theta_dot=-6 / 41), 1, False),
    ("so does the pole", {"theta_dot": 1}, STAY, None, up(theta=0.01), 1, False),
    ("angles are from 0 to 2 pi", {"theta_dot": -1}, STAY, None, up(theta=2 * PI - 0.01), 1, False),
    ("a pole on its side falls", {"theta": PI / 2}, RIGHT, None, {"x_dot": 0.1 / 1.1, "theta_dot": 0.147}, 0, True),
    ("its swing drags the cart", {"theta": PI / 2, "theta_dot": 2}, RIGHT, None,
     {"x_dot": 0.102 / 1.1, "theta": PI / 2 + 0.02, "theta_dot": 2.147}, 0, True),
)  # fmt: skip
def test_rules(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(CartPole(), before, action, draws, after, reward, end)


# Nothing accelerates: only rewards and ends are left.
@rules(
    ("a cart inside", {"x": 2.985, "x_dot": 1}, STAY, None, up(x=2.995), 1, False),
    ("a cart outside ends it", OUT, STAY, None, {"x": 3.005}, 0, True),
    ("also on the left", {"x": -2.995, "x_dot": -1}, STAY, None, {"x": -3.005}, 0, True),
    ("a tip at 0.81 of the length", {"theta": np.arccos(0.81)}, STAY, None, up(), 1, False),
    ("a tip at 0.79 ends it", {"theta": np.arccos(0.79)}, STAY, None, {}, 0, True),
    ("also on the left", {"theta": 2 * PI - np.arccos(0.79)}, STAY, None, {}, 0, True),
    ("returns add up", {"episode_return": 7, "raw_return": 40}, STAY, None,
     {"episode_return": 8, "raw_return": 41}, 1, False),
    ("the best episode", {**OUT, "episode_return": 7, "best_episode": 5}, STAY, None,
     {"x": 3.005, "best_episode": 7}, 0, True),
    ("a worse one", {**OUT, "episode_return": 7, "best_episode": 9}, STAY, None, {"x": 3.005}, 0, True),
    ("it is not yet beyond 10 s", {"time": 999}, STAY, None, up(), 1, False),
    ("now it is", {"time": 1000}, STAY, None, up(best_episode=1), 1, True),
)  # fmt: skip
def test_rewards_and_ends(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    still = {"gravity": 0, "mass_pole": 0, "force_mag": 0}
    check_rule(CartPole(), before, action, draws, after, reward, end, **still)


def test_every_recorded_step() -> None:
    assert lockstep.check_recorded("cartpole", CARTPOLE) == 0


def test_recorded_resets() -> None:
    lockstep.check_resets("cartpole", CARTPOLE)


def balances_at_times(key: jax.Array, state: Any, params: Any) -> jax.Array:
    """Balances for four fifths of the time limit, then mostly; in every third episode acts at random."""
    angle = jnp.where(state.theta > np.pi, state.theta - 2 * np.pi, state.theta)
    lean = angle + 0.2 * state.theta_dot + 0.05 * state.x + 0.1 * state.x_dot
    best = 1 + jnp.sign(lean).astype(jnp.int32)
    careless = jnp.where(state.raw_return.astype(jnp.int32) // 700 % 3 == 2, 1.0, 0.05)
    return jnp.where(jax.random.bernoulli(key, careless), jax.random.randint(key, (), 0, 3), best)


def test_game() -> None:
    game = lockstep.check_game(lockstep.make("cartpole"), CARTPOLE, balances_at_times, 6000)
    lengths = np.diff(np.flatnonzero(game.done), prepend=-1)
    assert (lengths == 1001).sum() >= 2
    assert (lengths < 500).sum() >= 5
    assert game.info["best_episode"][-1] == 1001
    assert 3000 < game.info["raw_return"][-1] < 6000


def test_starts_are_uniform() -> None:
    state = jax.vmap(CartPole().reset)(jax.random.split(jax.random.key(0), 4000))[1]
    check_starts(np.stack([state.x, state.x_dot, state.theta, state.theta_dot]))


def check_starts(offsets: np.ndarray) -> None:
    """Fails unless the four rows are uniform on [-0.05, 0.05), independently."""
    assert (offsets >= -0.05).all()
    assert (offsets < 0.05 + 1e-6).all()
    assert (abs(offsets.mean(axis=1)) < 4 * 0.1 / (12 * offsets.shape[1]) ** 0.5).all()
    assert (abs(offsets.std(axis=1) - 0.1 / 12**0.5) < 0.001).all()
    assert (abs(np.corrcoef(offsets) - np.eye(4)) < 4 / offsets.shape[1] ** 0.5).all()
