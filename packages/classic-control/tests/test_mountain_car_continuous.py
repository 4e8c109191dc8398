"""MountainCarContinuous: its rules, one case per line, and its gradients."""

from __future__ import annotations

from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_classic_control.mountain_car_continuous import MountainCarContinuous
from rules import check_rule, rules

KEY = jax.random.key(0)
ENV = MountainCarContinuous()
PARAMS = ENV.default_params
BOTTOM = -np.pi / 6  # of the valley: the slope is the cosine of 3 * position


def push(strength: float) -> np.ndarray:
    return np.array([strength], np.float32)


def at(position: float, velocity: float = 0) -> dict[str, float]:
    """Both numbers of the state."""
    return {"position": position, "velocity": velocity}


to, COAST = at, push(0)


@rules(
    ("at the bottom it stays, which costs nothing", at(BOTTOM), COAST, None, {}, 0, False),
    ("a push moves it, and costs", at(BOTTOM), push(1), None, to(BOTTOM + 0.0015, 0.0015), -0.1, False),
    ("back as well", at(BOTTOM), push(-1), None, to(BOTTOM - 0.0015, -0.0015), -0.1, False),
    ("half of it costs a quarter", at(BOTTOM), push(0.5), None, to(BOTTOM + 0.00075, 0.00075), -0.025, False),
    ("more than 1 costs more without effect", at(BOTTOM), push(3), None, to(BOTTOM + 0.0015, 0.0015), -0.9, False),
    ("nor does less than -1", at(BOTTOM), push(-3), None, to(BOTTOM - 0.0015, -0.0015), -0.9, False),
    ("the speed is limited", at(BOTTOM, 0.07), push(1), None, to(BOTTOM + 0.07, 0.07), -0.1, False),
    ("it rolls down the right hill", at(0), COAST, None, to(-0.0025, -0.0025), 0, False),
    ("it rolls down the left hill", at(2 * BOTTOM), COAST, None, to(2 * BOTTOM + 0.0025, 0.0025), 0, False),
)
def test_rules(before: Any, action: Any, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(ENV, before, action, draws, after, reward, end)


@rules(
    ("the wall on the left stops it", at(-1.19, -0.05), COAST, None, to(-1.2, 0), 0, False),
    ("short of the goal it goes on", at(0.42, 0.02), COAST, None, to(0.44, 0.02), 0, False),
    ("the goal is worth 100", at(0.44, 0.02), COAST, None, to(0.46, 0.02), 100, True),
    ("less the last push", at(0.44, 0.02), push(1), None, to(0.4615, 0.0215), 99.9, True),
    ("not on the way back", at(0.48, -0.02), COAST, None, to(0.46, -0.02), 0, False),
    ("the right edge holds it", at(0.58, 0.05), COAST, None, to(0.6, 0.05), 100, True),
)
def test_ends_of_a_road_without_slope(
    before: Any, action: Any, draws: Any, after: Any, reward: float, end: bool
) -> None:
    check_rule(ENV, before, action, draws, after, reward, end, gravity=0)


@rules(
    ("the minimum push", at(0), push(-3), None, to(-0.02, -0.02), -0.9, False),
    ("the maximum push", at(0), push(3), None, to(0.005, 0.005), -0.9, False),
    ("goal, but too slow", at(0.19, 0.02), COAST, None, to(0.21, 0.02), 0, False),
    ("goal, and fast enough", at(0.19, 0.04), COAST, None, to(0.23, 0.04), 100, True),
)
def test_params(before: Any, action: Any, draws: Any, after: Any, reward: float, end: bool) -> None:
    numbers = {"min_action": -2.0, "max_action": 0.5, "power": 0.01, "goal_position": 0.2, "goal_velocity": 0.03}
    check_rule(ENV, before, action, draws, after, reward, end, gravity=0, **numbers)


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


def test_action_space_follows_the_params() -> None:
    space = ENV.action_space(PARAMS.replace(min_action=-2.0, max_action=0.5))
    assert (space.low.tolist(), space.high.tolist()) == ([-2], [0.5])
