"""Invalid params are refused before anything is traced."""

from __future__ import annotations

from typing import Any

import pytest
from envcore_classic_control.acrobot import Acrobot
from envcore_classic_control.cartpole import CartPole
from envcore_classic_control.mountain_car import MountainCar
from envcore_classic_control.mountain_car_continuous import MountainCarContinuous
from envcore_classic_control.pendulum import Pendulum
from params_checks import check_refused, check_taken

BAD: list[tuple[Any, dict[str, Any], str]] = [
    (CartPole(), {"length": 0.0}, "length must be positive, got 0.0"),
    (CartPole(), {"length": float("nan")}, "length must be positive, got nan"),
    (CartPole(), {"masscart": -1.0}, "masscart must be at least 0"),
    (CartPole(), {"masspole": -0.1}, "masspole must be at least 0"),
    (CartPole(), {"masscart": 0.0, "masspole": 0.0}, "masscart must be above 0 where masspole is 0, got 0.0 and 0.0"),
    (CartPole(), {"x_threshold": -2.4}, "x_threshold must be at least 0"),
    (CartPole(), {"theta_threshold_radians": -1.0}, "theta_threshold_radians must be at least 0"),
    (CartPole(), {"reset_low": 0.1}, "reset_low must be at most reset_high, got 0.1 and 0.05"),
    (Pendulum(), {"m": 0.0}, "m must be positive"),
    (Pendulum(), {"l": -1.0}, "l must be positive"),
    (Pendulum(), {"max_speed": -8.0}, "max_speed must be at least 0"),
    (Pendulum(), {"max_torque": -2.0}, "max_torque must be at least 0"),
    (Acrobot(), {"link_moi": 0.0}, "link_moi must be positive"),
    (Acrobot(), {"link_mass_2": -1.0}, "link_mass_2 must be at least 0"),
    (Acrobot(), {"link_length_1": -1.0}, "link_length_1 must be at least 0"),
    (Acrobot(), {"max_vel_1": -1.0}, "max_vel_1 must be at least 0"),
    (Acrobot(), {"reset_high": -0.2}, "reset_low must be at most reset_high"),
    (MountainCar(), {"max_speed": -0.07}, "max_speed must be at least 0"),
    (MountainCar(), {"min_position": 0.7}, "min_position must be at most max_position, got 0.7 and 0.6"),
    (MountainCar(), {"reset_low": -0.3}, "reset_low must be at most reset_high"),
    (MountainCarContinuous(), {"max_position": -1.3}, "min_position must be at most max_position"),
    (MountainCarContinuous(), {"max_action": -1.5}, "min_action must be at most max_action"),
]
GOOD: list[tuple[Any, dict[str, Any]]] = [
    (CartPole(), {"masscart": 0.0, "x_threshold": float("inf"), "gravity": -9.8, "reset_low": 0.05}),
    (Pendulum(), {"g": 0.0, "x_init": 0.0, "max_torque": 0.0}),
    (Acrobot(), {"link_mass_1": 0.0, "torque_noise_max": -1.0}),
    (MountainCar(), {"goal_position": 5.0, "max_speed": 0.0}),
    (MountainCarContinuous(), {"min_action": 1.0}),
]


@pytest.mark.parametrize(("env", "changes", "message"), BAD, ids=str)
def test_invalid_values_are_refused(env: Any, changes: dict[str, Any], message: str) -> None:
    check_refused(env, changes, message)


@pytest.mark.parametrize(("env", "changes"), GOOD, ids=str)
def test_all_others_are_taken(env: Any, changes: dict[str, Any]) -> None:
    check_taken(env, changes)
