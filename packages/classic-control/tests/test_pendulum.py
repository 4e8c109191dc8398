from __future__ import annotations

from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_classic_control.pendulum import Pendulum

KEY = jax.random.key(0)
ENV = Pendulum()
PARAMS = ENV.default_params
NUMBERS = ("g", "m", "l", "dt")


def step(x: Any) -> jax.Array:
    """One step of ours from (theta, theta_dot, u, *NUMBERS) to (theta, theta_dot, reward)."""
    _, state = ENV.reset(KEY)
    state = state.replace(theta=x[0], theta_dot=x[1])
    params = PARAMS.replace(**dict(zip(NUMBERS, x[3:], strict=True)))
    _, state, reward, _, _ = ENV.step_env(KEY, state, x[2:3], params)
    return jnp.stack([state.theta, state.theta_dot, reward])


JACOBIANS = (jax.jit(jax.jacfwd(step)), jax.jit(jax.jacrev(step)))


def original_step(x: np.ndarray) -> np.ndarray:
    env: Any = gymnasium.make("Pendulum-v1", disable_env_checker=True).unwrapped
    for name, value in zip(NUMBERS, x[3:], strict=True):
        setattr(env, name, value)
    env.state = x[:2]
    _, reward, _, _, _ = env.step(x[2:3])
    return np.array([*env.state, reward])


@pytest.mark.parametrize("theta", [-7.0, -1.0, 0.0, 2.5])
@pytest.mark.parametrize("u", [-1.5, 0.0, 3.0])
def test_gradients_are_the_originals_finite_differences(theta: float, u: float) -> None:
    x = np.array([theta, 0.7, u, *(getattr(PARAMS, name) for name in NUMBERS)])
    nudges = 1e-6 * np.eye(len(x))
    expected = np.stack([(original_step(x + h) - original_step(x - h)) / 2e-6 for h in nudges], axis=1)
    for jacobian in JACOBIANS:
        np.testing.assert_allclose(jacobian(jnp.asarray(x, jnp.float32)), expected, rtol=1e-4, atol=1e-5)


def test_gradients_of_a_whole_episode_are_finite() -> None:
    def episode_return(params: Any, torque: jax.Array) -> jax.Array:
        _, state = ENV.reset(KEY, params)

        def body(state: Any, _: None) -> tuple[Any, jax.Array]:
            state, reward = ENV.step(KEY, state, torque, params)[1:3]
            return state, reward

        return jax.lax.scan(body, state, length=250)[1].sum()

    floats = PARAMS.replace(max_steps_in_episode=200)
    value, gradients = jax.value_and_grad(episode_return, (0, 1), allow_int=True)(floats, jnp.array([1.0]))
    leaves = [x for x in jax.tree.leaves(gradients) if x.dtype == jnp.float32]
    assert np.isfinite(value)
    assert all(np.isfinite(x).all() for x in leaves)
    assert sum(int((x != 0).any()) for x in leaves) >= 5


def test_state_keeps_the_torque_that_was_applied() -> None:
    _, state = ENV.reset(KEY)
    assert state.last_u == 0
    for torque, applied in ((1.5, 1.5), (-9.0, -2.0)):
        _, state, *_ = ENV.step_env(KEY, state, jnp.array([torque]))
        assert state.last_u == applied


def test_spaces_follow_the_params() -> None:
    params = PARAMS.replace(max_torque=3.0, max_speed=5.0)
    assert ENV.make_action_space(params).high.tolist() == [3]
    assert ENV.make_observation_space(params).high.tolist() == [1, 1, 5]
