"""CartPole against the original: its recordings, the package itself, and what only we have."""

from __future__ import annotations

from typing import Any

import bsuite_lockstep as lockstep
import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bsuite_physics import CARTPOLE
from envcore.testing import check_env
from envcore_bsuite.cartpole import CartPole, CartPoleState


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


@pytest.mark.parametrize(("timescale", "max_time", "steps"), [(0.01, 10.0, 1001), (0.01, 1.0, 101), (0.02, 10.0, 501)])
def test_time_limit(timescale: float, max_time: float, steps: int) -> None:
    """The episode lasts until more than `max_time` has passed."""
    env, params = CartPole(), CartPole().default_params.replace(timescale=timescale, max_time=max_time)
    numbers = dict.fromkeys(("x", "x_dot", "theta", "theta_dot", "episode_return", "raw_return", "best_episode"), 0.0)
    state = jax.tree.map(jnp.asarray, CartPoleState(**{n: np.float32(x) for n, x in numbers.items()}, time=np.int32(0)))
    late = [
        env.step_env(jax.random.key(0), state.replace(time=jnp.int32(t)), 1, params)[3] for t in range(steps - 4, steps)
    ]
    assert [bool(each) for each in late] == [False, False, False, True]


@pytest.mark.slow
def test_conforms() -> None:
    check_env(*envcore.make("CartPole-bsuite"))
