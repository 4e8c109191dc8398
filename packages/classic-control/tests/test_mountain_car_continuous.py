from __future__ import annotations

from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_classic_control.mountain_car_continuous import MountainCarContinuous

KEY = jax.random.key(0)
ENV = MountainCarContinuous()
PARAMS = ENV.default_params


def step(x: Any) -> jax.Array:
    """One step of ours from (position, velocity, action, power) to (position, velocity, reward)."""
    _, state = ENV.reset(KEY)
    state = state.replace(position=x[0], velocity=x[1])
    _, state, reward, _, _ = ENV.step_env(KEY, state, x[2:3], PARAMS.replace(power=x[3]))
    return jnp.stack([state.position, state.velocity, reward])


JACOBIANS = (jax.jit(jax.jacfwd(step)), jax.jit(jax.jacrev(step)))


def original_step(x: np.ndarray) -> np.ndarray:
    env: Any = gymnasium.make("MountainCarContinuous-v0", disable_env_checker=True).unwrapped
    env.state, env.power = x[:2], x[3]
    state, reward, *_ = env.step(x[2:3])
    return np.array([*state, reward], np.float64)


@pytest.mark.parametrize("position", [-1.0, -0.5, 0.3])
@pytest.mark.parametrize("action", [-0.7, 0.2, 1.5])
def test_gradients_are_the_originals_finite_differences(position: float, action: float) -> None:
    x = np.array([position, 0.01, action, PARAMS.power])
    size = np.array([1e-2, 1e-2, 1e-2, 1e-4])  # large, because gymnasium rounds its state to float32
    nudges = np.diag(size)
    expected = np.stack([(original_step(x + h) - original_step(x - h)) / (2 * h.sum()) for h in nudges], axis=1)
    for jacobian in JACOBIANS:
        actual = np.asarray(jacobian(jnp.asarray(x, jnp.float32)))
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-7 / size.min())


@pytest.mark.parametrize("action", [0.5, 1.0, 3.0])
def test_effort_is_charged_as_given_and_felt_as_clipped(action: float) -> None:
    _, state = ENV.reset(KEY)
    _, pushed, reward, _, _ = ENV.step_env(KEY, state, jnp.array([action]))
    _, clipped, _, _, _ = ENV.step_env(KEY, state, jnp.array([min(action, 1.0)]))
    assert pushed == clipped
    assert float(reward) == pytest.approx(-0.1 * action**2)


def test_the_goal_is_worth_a_hundred_less_the_effort() -> None:
    _, state = ENV.reset(KEY)
    state = state.replace(position=np.float32(0.44), velocity=np.float32(0.05))
    _, _, reward, terminated, _ = ENV.step_env(KEY, state, jnp.array([1.0]))
    assert terminated
    assert float(reward) == pytest.approx(99.9)


def test_action_space_follows_the_params() -> None:
    space = ENV.make_action_space(PARAMS.replace(min_action=-2.0, max_action=0.5))
    assert (space.low.tolist(), space.high.tolist()) == ([-2], [0.5])
