"""Invalid params are refused before anything is traced."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from envcore_classic_control.acrobot import Acrobot
from envcore_classic_control.cartpole import CartPole
from envcore_classic_control.mountain_car import MountainCar
from envcore_classic_control.mountain_car_continuous import MountainCarContinuous
from envcore_classic_control.pendulum import Pendulum
from params_checks import check_refused, check_taken

BAD: list[tuple[Any, dict[str, Any], str]] = [
    (CartPole(), {"length": 0.0}, "length must be positive, got 0.0"),
    (CartPole(), {"force_mag": -10.0}, "force_mag must be at least 0"),
    (CartPole(), {"gravity": -1e30}, r"gravity must be 0 or from 1e-12 to 1000000 in magnitude, got -1e\+30"),
    (CartPole(), {"masscart": 0.0, "masspole": 0.0}, "masscart must be above 0 where masspole is 0, got 0.0 and 0.0"),
    (CartPole(), {"reset_low": 0.1}, "reset_low must be at most reset_high, got 0.1 and 0.05"),
    (CartPole(), {"reset_high": 1e6}, "reset_high must be from -100 to 100"),
    (Pendulum(), {"x_init": 1e6}, "x_init must be from 0 to 1000"),
    (Acrobot(), {"link_com_pos_1": 101.0}, "link_com_pos_1 must be from -100 to 100, got 101.0"),
    (Acrobot(), {"available_torque": np.array([-1e7, 0.0, 1.0])}, r"available_torque must .*, got \[-1\.e\+07 "),
    (MountainCar(), {"min_position": 0.7}, "min_position must be below max_position, got 0.7 and 0.6"),
    (MountainCar(), {"max_position": -0.5}, "reset_high must be at most max_position, got -0.4 and -0.5"),
    (MountainCarContinuous(), {"min_position": -0.5}, "min_position must be at most reset_low, got -0.5 and -0.6"),
    (MountainCarContinuous(), {"max_action": -1.5}, "min_action must be at most max_action"),
]
GOOD: list[tuple[Any, dict[str, Any]]] = [
    (CartPole(), {"masscart": 0.0, "x_threshold": float("inf"), "gravity": -9.8, "reset_low": 0.05}),
    (Pendulum(), {"g": 0.0, "x_init": 0.0, "max_torque": 0.0, "max_speed": float("inf")}),
    (Acrobot(), {"link_mass_1": 0.0, "torque_noise_max": -1.0}),
    (MountainCar(), {"goal_position": 5.0, "max_speed": 0.0, "reset_low": -1.2, "reset_high": 0.6}),
    (MountainCarContinuous(), {"min_action": 1.0}),
]


@pytest.mark.parametrize(("env", "changes", "message"), BAD, ids=str)
def test_invalid_values_are_refused(env: Any, changes: dict[str, Any], message: str) -> None:
    check_refused(env, changes, message)


@pytest.mark.parametrize(("env", "changes"), GOOD, ids=str)
def test_all_others_are_taken(env: Any, changes: dict[str, Any]) -> None:
    check_taken(env, changes)
