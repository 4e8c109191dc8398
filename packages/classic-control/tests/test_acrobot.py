from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from envcore import random
from envcore_classic_control.acrobot import Acrobot
from scipy import stats

COUNT = 20_000
NOISE = 0.5
ENV = Acrobot()
PARAMS = ENV.default_params
_, START = ENV.reset(jax.random.key(7))


@pytest.mark.parametrize("name", ["Book", "", None])
def test_unknown_dynamics_are_refused(name: Any) -> None:
    with pytest.raises(ValueError, match="book_or_nips must be 'book' or 'nips'"):
        Acrobot(book_or_nips=name)


def test_without_noise_the_key_does_not_matter() -> None:
    first, second = (ENV.step_env(jax.random.key(seed), START, 2)[0] for seed in (0, 1))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("keys", [jax.random.split, random.spawn], ids=["split", "spawn"])
def test_torque_noise_is_uniform_and_independent(keys: Any) -> None:
    torques = np.linspace(-2 * NOISE, 2 * NOISE, COUNT)
    velocities, _ = step_and_reset(jax.random.split(jax.random.key(0), COUNT), torques, 0.0)
    noisy, resets = step_and_reset(keys(jax.random.key(1), COUNT), np.zeros(COUNT), NOISE)
    noise = np.interp(noisy, velocities, torques)  # the velocity after a step grows with the torque
    assert np.abs(noise).max() <= NOISE * (1 + 1e-3)
    assert np.asarray(stats.kstest(noise, "uniform", (-NOISE, 2 * NOISE)))[1] > 0.001
    others = np.column_stack([noise[1:], resets[:-1], resets[1:]])
    correlations = np.corrcoef(noise[:-1], np.column_stack([others, np.abs(others)]), rowvar=False)[0, 1:]
    assert np.abs(correlations).max() < 4.5 / np.sqrt(COUNT)  # of 18: false alarm once in 8,000 keys


def step_and_reset(keys: jax.Array, torques: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """The second velocity after one step with each key and torque, and the state that its auto-reset draws."""
    params = PARAMS.replace(
        available_torque=np.repeat(torques[:, None], 3, axis=1), torque_noise_max=noise, max_steps_in_episode=1
    )
    _, state, _, done, info = _step(keys, START, 1, params)
    assert np.asarray(done).all()
    resets = [state.joint_angle1, state.joint_angle2, state.velocity_1, state.velocity_2]
    return np.asarray(info["final_obs"][:, 5]), np.stack(resets, axis=1)


_AXES = jax.tree.map(lambda _: None, PARAMS).replace(available_torque=0)
_step = jax.jit(jax.vmap(ENV.step, (0, None, None, _AXES)))
