from __future__ import annotations

import functools
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
    noise, resets = noise_and_resets(keys(jax.random.key(0), COUNT))
    assert np.asarray(stats.kstest(noise, "uniform", (-NOISE, 2 * NOISE)))[1] > 0.001
    assert np.abs(noise).max() <= NOISE + 1e-4
    series = np.column_stack([noise[:-1], noise[1:], resets[:-1], resets[1:]])
    correlations = np.corrcoef(np.column_stack([series, np.abs(series)]).T)
    assert np.abs(correlations - np.eye(len(correlations)))[0].max() < 4 / np.sqrt(COUNT)


step_with_keys = jax.jit(jax.vmap(ENV.step, (0, None, None, None)))


def noise_and_resets(keys: jax.Array) -> tuple[np.ndarray, np.ndarray]:
    """The noise of one step with each key, and what the auto-reset of the same step draws."""
    params = PARAMS.replace(torque_noise_max=NOISE, max_steps_in_episode=1)
    _, state, _, done, info = step_with_keys(keys, START, 1, params)
    assert np.asarray(done).all()
    torques, velocities = velocity_by_torque()
    noise = np.interp(info["final_obs"][:, 5], velocities, torques)
    resets = [state.joint_angle1, state.joint_angle2, state.velocity_1, state.velocity_2]
    return noise, np.stack(resets, axis=1)


@functools.cache
def velocity_by_torque() -> tuple[np.ndarray, np.ndarray]:
    """Torques, and the second velocity that one step with each leads to: it grows with the torque."""
    torques = np.linspace(-NOISE, NOISE, 201)
    table = PARAMS.replace(available_torque=np.broadcast_to(torques[:, None], (201, 3)).astype(np.float32))
    axes = jax.tree.map(lambda _: None, table).replace(available_torque=0)
    step = jax.jit(jax.vmap(ENV.step_env, (None, None, None, axes)))
    velocities = np.asarray(step(jax.random.key(0), START, 1, table)[1].velocity_2)
    assert (np.diff(velocities) > 0).all()
    return torques, velocities
