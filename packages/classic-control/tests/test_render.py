from __future__ import annotations

from typing import Any

import numpy as np
import picture_checks
import pytest
from envcore import painting
from envcore_classic_control.acrobot import Acrobot
from envcore_classic_control.cartpole import CartPole
from envcore_classic_control.mountain_car import MountainCar
from envcore_classic_control.mountain_car_continuous import MountainCarContinuous
from envcore_classic_control.pendulum import Pendulum
from picture_checks import CHECKS, Case, middle

CARTPOLE, PENDULUM, ACROBOT = CartPole(), Pendulum(), Acrobot()
MOUNTAIN_CARS = [MountainCar(), MountainCarContinuous()]
UPRIGHT, HILL = {"theta": 0.1}, {"position": -0.5}
ROAD: dict[str, float] = {"goal_position": 0.3, "min_position": -1.0, "max_position": 0.5}
CAR = [painting.STONE, painting.RED, painting.GREEN, painting.BLUE, painting.INK, painting.PAPER]
CASES = [
    Case(
        CARTPOLE,
        2.0,
        UPRIGHT,
        {"x": 0.3, "theta": 0.2},
        {"length": 0.7, "x_threshold": 1.8},
        [painting.SHADE, painting.STONE, painting.INK, painting.BLUE, painting.ORANGE, painting.PAPER],
    ),
    Case(
        PENDULUM,
        1.0,
        {**UPRIGHT, "last_u": 1.5},
        {"theta": 0.5, "last_u": -1.0},
        {"l": 0.8, "max_torque": 3.0},
        [painting.RED, painting.INK, painting.BLUE, painting.PAPER],
    ),
    Case(
        ACROBOT,
        1.0,
        {},
        {"joint_angle1": 0.5, "joint_angle2": -0.5},
        {"link_length_1": 1.3, "link_length_2": 0.7},
        [painting.GREEN, painting.BLUE, painting.ORANGE, painting.INK, painting.PAPER],
    ),
    *(Case(car, 1.5, HILL, {"position": -0.9}, ROAD, CAR) for car in MOUNTAIN_CARS),
]
START = {case.env.name: case.start for case in CASES}


def state_of(env: Any, **fields: float) -> Any:
    """A state in which every part is visible: at rest, with a torque, away from edges."""
    return picture_checks.state_of(env, **START[env.name] | fields)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.env.name)
def test_pictures(case: Case, check: Any) -> None:
    check(case)


def test_a_rail_without_an_end() -> None:
    endless = CARTPOLE.default_params.replace(x_threshold=np.inf)
    near, far = (CARTPOLE.render(state_of(CARTPOLE, x=x), endless, height=64) for x in (0.0, 70.0))
    np.testing.assert_array_equal(near, far)  # it follows the cart
    np.testing.assert_array_equal(near, CARTPOLE.render(state_of(CARTPOLE), CARTPOLE.default_params, height=64))


@pytest.mark.parametrize("theta", [-2.0, -0.5, 0.0, 1.0, 3.0, 7.0])
def test_the_pendulum_turns_counter_clockwise_from_upright(theta: float) -> None:
    x, y = middle(
        PENDULUM.render(state_of(PENDULUM, theta=theta, last_u=0.0), PENDULUM.default_params, height=128), painting.RED
    )
    np.testing.assert_allclose(np.array([x, y]) / np.hypot(x, y), [-np.sin(theta), np.cos(theta)], atol=0.05)


def test_acrobot_hangs_down_and_turns_counter_clockwise() -> None:
    hanging = ACROBOT.render(state_of(ACROBOT, joint_angle1=0.0, joint_angle2=0.0), ACROBOT.default_params, height=128)
    (x1, y1), (x2, y2) = middle(hanging, painting.BLUE), middle(hanging, painting.ORANGE)
    np.testing.assert_allclose([x1, x2], 0, atol=0.01)
    assert y2 < y1 < 0
    bent = ACROBOT.render(
        state_of(ACROBOT, joint_angle1=np.pi / 2, joint_angle2=np.pi / 2), ACROBOT.default_params, height=128
    )
    (x1, y1), (x2, y2) = middle(bent, painting.BLUE), middle(bent, painting.ORANGE)
    np.testing.assert_allclose([y1, x2], [0, 1 / 4.5], atol=0.02)
    assert x1 > 0.05
    assert y2 > 0.05
