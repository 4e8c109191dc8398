"""CartPole: its rules, one case per line, and our additions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from classic_lockstep import CARTPOLE
from envcore_classic_control.cartpole import CartPole, CartPoleState
from rules import check_rule, rules

KEY = jax.random.key(0)
LEFT, RIGHT = range(2)
FLAT, DEGREE = np.pi / 2, np.pi / 180


def to(x: float, x_dot: float, theta: float, theta_dot: float) -> dict[str, float]:
    """All four numbers of the state."""
    return {"x": x, "x_dot": x_dot, "theta": theta, "theta_dot": theta_dot}


def fall(theta_dot: float) -> dict[str, float]:
    """A pole on its side that still turns."""
    return {"theta": FLAT, "theta_dot": theta_dot}


# With the pole upright a push of 10 N accelerates the cart by 400/41 m/s^2 and the pole by -600/41 rad/s^2, for 0.02 s.
@rules(
    ("right pushes cart and pole apart", {}, RIGHT, None, {"x_dot": 8 / 41, "theta_dot": -12 / 41}, 1, False),
    ("left does the opposite", {}, LEFT, None, {"x_dot": -8 / 41, "theta_dot": 12 / 41}, 1, False),
    ("the cart moves by its old speed", {"x_dot": 1}, RIGHT, None, to(0.02, 49 / 41, 0, -12 / 41), 1, False),
    ("a pole on its side falls freely", {"theta": FLAT}, RIGHT, None, to(0, 2 / 11, FLAT, 0.294), 1, True),
    ("its swing drags the cart along", fall(2), RIGHT, None, to(0, 2.04 / 11, FLAT + 0.04, 2.294), 1, True),
)
def test_rules(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(CartPole(), before, action, draws, {"has_fallen": end, **after}, reward, end)


# Nothing accelerates: only the ends are left.
@rules(
    ("a cart at its limit is inside", {"x": 2.4}, LEFT, None, {}, 1, False),
    ("beyond it the episode ends", {"x": 2.39, "x_dot": 1}, LEFT, None, {"x": 2.41, "has_fallen": True}, 1, True),
    ("and on the left", {"x": -2.39, "x_dot": -1}, LEFT, None, {"x": -2.41, "has_fallen": True}, 1, True),
    ("a pole at 11 degrees is inside", {"theta": 11 * DEGREE}, LEFT, None, {}, 1, False),
    ("beyond 12 the episode ends", {"theta": 13 * DEGREE}, LEFT, None, {"has_fallen": True}, 1, True),
    ("and on the left", {"theta": -13 * DEGREE}, LEFT, None, {"has_fallen": True}, 1, True),
    ("after the end there is no reward", {"x": 3, "has_fallen": True}, LEFT, None, {}, 0, True),
    ("until it is back", {"x": 2.41, "x_dot": -1, "has_fallen": True}, LEFT, None, {"x": 2.39}, 1, False),
)
def test_ends(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(CartPole(), before, action, draws, after, reward, end, gravity=0, masspole=0, force_mag=0)


@rules(
    ("a step earns nothing", {"x": 2.4}, LEFT, None, {}, 0, False),
    ("the last one costs 1", {"x": 2.39, "x_dot": 1}, LEFT, None, {"x": 2.41, "has_fallen": True}, -1, True),
    ("and so does each after it", {"x": 3, "has_fallen": True}, LEFT, None, {}, -1, True),
    ("until it is back", {"x": 2.41, "x_dot": -1, "has_fallen": True}, LEFT, None, {"x": 2.39}, 0, False),
)
def test_sutton_barto_reward(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    env = CartPole(sutton_barto_reward=True)
    check_rule(env, before, action, draws, after, reward, end, gravity=0, masspole=0, force_mag=0)


@rules(
    ("both move by their new speeds", {}, RIGHT, None, to(0.16 / 41, 8 / 41, -0.24 / 41, -12 / 41), 1, False),
)
def test_semi_implicit_euler(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(CartPole(kinematics_integrator="semi-implicit euler"), before, action, draws, after, reward, end)


# A massless pole over a cart that is not pushed: its angular acceleration is 3/4 of gravity * sin(theta) / length.
@rules(
    ("gravity, and the pole's length", {"theta": np.pi / 6}, RIGHT, None, {"theta_dot": 0.3}, 1, False),
    ("the limits", {"theta": -np.pi / 6, "x": 9}, RIGHT, None, {"theta_dot": -0.3}, 1, False),
)
def test_params(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    numbers = {"gravity": 8.0, "length": 0.25, "tau": 0.025, "theta_threshold_radians": 1.0, "x_threshold": 10.0}
    check_rule(CartPole(), before, action, draws, after, reward, end, masspole=0, force_mag=0, **numbers)


@pytest.mark.parametrize("name", ["Euler", None])
def test_unknown_integrators_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="kinematics_integrator must be 'euler' or 'semi-implicit euler'"):
        CartPole(kinematics_integrator=name)  # pyright: ignore[reportArgumentType]


def test_a_state_written_by_hand_has_not_fallen() -> None:
    env, params = CARTPOLE.make({})
    state = CartPoleState(*map(jnp.float32, (2.39, 1, 0, 0)))
    for expected in (1, 0):
        _, state, reward, _, _ = env.step_env(KEY, state, 1, params)
        assert float(reward) == expected


def test_observation_space_is_twice_the_limits_of_its_params() -> None:
    env, params = CARTPOLE.make({})
    space = env.observation_space(params.replace(x_threshold=1.0, theta_threshold_radians=0.5))
    np.testing.assert_array_equal(space.high, np.array([2.0, np.inf, 1.0, np.inf], np.float32))
    np.testing.assert_array_equal(space.low, -space.high)
