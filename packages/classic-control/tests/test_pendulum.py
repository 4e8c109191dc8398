"""Pendulum: its rules, one case per line."""

from __future__ import annotations

from typing import Any

import numpy as np
from envcore_classic_control.pendulum import Pendulum
from rules import check_rule, rules

ENV = Pendulum()
PARAMS = ENV.default_params
LEVEL = np.pi / 2  # an angle


def torque(newton_metres: float) -> np.ndarray:
    return np.array([newton_metres], np.float32)


def at(theta: float, theta_dot: float = 0, last_u: float = 0) -> dict[str, float]:
    """All numbers of the state."""
    return {"theta": theta, "theta_dot": theta_dot, "last_u": last_u}


to, FREE = at, torque(0)


# A torque of 1 N m adds 0.15 rad/s, gravity on a level rod 0.75 rad/s; the angle moves by the new speed, for 0.05 s.
@rules(
    ("upright it stays, which costs nothing", at(0), FREE, None, {}, 0, False),
    ("a torque turns it", at(0), torque(1), None, to(0.0075, 0.15, 1), -0.001, False),
    ("and back", at(0), torque(-1), None, to(-0.0075, -0.15, -1), -0.001, False),
    ("a stronger one counts as 2", at(0), torque(5), None, to(0.015, 0.3, 2), -0.004, False),
    ("or as -2", at(0), torque(-9), None, to(-0.015, -0.3, -2), -0.004, False),
    ("gravity pulls it down", at(LEVEL), FREE, None, to(LEVEL + 0.0375, 0.75), -(LEVEL**2), False),
    ("hanging down it stays", at(np.pi), FREE, None, {}, -(np.pi**2), False),
    ("speed costs", at(0, 1), FREE, None, to(0.05, 1), -0.1, False),
    ("the speed is limited", at(0, 8), torque(2), None, to(0.4, 8, 2), -6.404, False),
    ("in both directions", at(0, -8), torque(-2), None, to(-0.4, -8, -2), -6.404, False),
    ("a whole turn costs nothing", at(2 * np.pi), FREE, None, {}, 0, False),
    ("the angle is not wrapped", at(3 * LEVEL), FREE, None, to(3 * LEVEL - 0.0375, -0.75), -(LEVEL**2), False),
    ("the last torque does not matter", at(0, 0, 2), FREE, None, to(0), 0, False),
)
def test_rules(before: Any, action: Any, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(ENV, before, action, draws, after, reward, end)


@rules(
    ("mass and length", at(0), torque(4), None, to(0.15, 1.5, 4), -0.016, False),
    ("gravity and length", at(LEVEL), FREE, None, to(LEVEL + 0.03, 0.3), -(LEVEL**2), False),
    ("limits of torque and speed", at(0, 5), torque(9), None, to(0.5, 5, 4), -2.516, False),
)
def test_params(before: Any, action: Any, draws: Any, after: Any, reward: float, end: bool) -> None:
    numbers = {"m": 0.2, "l": 2.0, "g": 4.0, "dt": 0.1, "max_torque": 4.0, "max_speed": 5.0}
    check_rule(ENV, before, action, draws, after, reward, end, **numbers)


def test_spaces_follow_the_params() -> None:
    params = PARAMS.replace(max_torque=3.0, max_speed=5.0)
    assert ENV.action_space(params).high.tolist() == [3]
    assert ENV.observation_space(params).high.tolist() == [1, 1, 5]
