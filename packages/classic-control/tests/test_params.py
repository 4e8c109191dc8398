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
from params_checks import check_every_param_is_refused, check_refused, check_taken

BAD: list[tuple[Any, dict[str, Any], str]] = [
    (CartPole(), {"length": 0.0}, "length must be positive, got 0.0"),
    (CartPole(), {"tau": 0.0}, "tau must be positive"),
    (CartPole(), {"force_mag": -10.0}, "force_mag must be at least 0"),
    (CartPole(), {"gravity": -1e30}, r"gravity must be 0 or of a size from 1e-12 to 1000000, got -1e\+30"),
    (CartPole(), {"masscart": -1.0}, "masscart must be at least 0"),
    (CartPole(), {"masspole": -0.1}, "masspole must be at least 0"),
    (CartPole(), {"masscart": 0.0, "masspole": 0.0}, "masscart must be above 0 where masspole is 0, got 0.0 and 0.0"),
    (CartPole(), {"x_threshold": -2.4}, "x_threshold must be positive"),
    (CartPole(), {"theta_threshold_radians": -1.0}, "theta_threshold_radians must be positive"),
    (CartPole(), {"reset_low": 0.1}, "reset_low must be at most reset_high, got 0.1 and 0.05"),
    (CartPole(), {"reset_high": 1e6}, "reset_high must be from -100 to 100"),
    (CartPole(), {"reset_low": -1e6}, "reset_low must be from -100 to 100"),
    (Pendulum(), {"dt": 0.0}, "dt must be positive"),
    (Pendulum(), {"g": 1e7}, "g must be 0 or of a size"),
    (Pendulum(), {"x_init": -1.0}, "x_init must be at least 0"),
    (Pendulum(), {"y_init": -1.0}, "y_init must be at least 0"),
    (Pendulum(), {"x_init": 1e6}, "x_init must be from 0 to 1000"),
    (Pendulum(), {"y_init": 1e6}, "y_init must be from 0 to 1000"),
    (Pendulum(), {"m": 0.0}, "m must be positive"),
    (Pendulum(), {"l": -1.0}, "l must be positive"),
    (Pendulum(), {"max_speed": -8.0}, "max_speed must be at least 0"),
    (Pendulum(), {"max_torque": -2.0}, "max_torque must be at least 0"),
    (Acrobot(), {"link_moi": 0.0}, "link_moi must be positive"),
    (Acrobot(), {"dt": -0.2}, "dt must be positive"),
    (Acrobot(), {"torque_noise_max": 1e7}, "torque_noise_max must be 0 or of a size"),
    (Acrobot(), {"link_com_pos_1": 101.0}, "link_com_pos_1 must be from -100 to 100, got 101.0"),
    (Acrobot(), {"link_com_pos_2": -101.0}, "link_com_pos_2 must be from -100 to 100, got -101.0"),
    (Acrobot(), {"available_torque": np.array([-1e7, 0.0, 1.0])}, r"available_torque must .*, got \[-1\.e\+07 "),
    (Acrobot(), {"link_mass_1": -1.0}, "link_mass_1 must be at least 0"),
    (Acrobot(), {"link_length_2": -1.0}, "link_length_2 must be positive"),
    (Acrobot(), {"max_vel_2": 2000.0}, "max_vel_2 must be from -1000 to 1000, got 2000.0"),
    (Acrobot(), {"reset_low": -2000.0}, "reset_low must be from -1000 to 1000"),
    (Acrobot(), {"link_mass_2": -1.0}, "link_mass_2 must be at least 0"),
    (Acrobot(), {"link_length_1": -1.0}, "link_length_1 must be positive"),
    (Acrobot(), {"max_vel_1": -1.0}, "max_vel_1 must be at least 0"),
    (Acrobot(), {"reset_high": -0.2}, "reset_low must be at most reset_high"),
    (MountainCar(), {"max_speed": -0.07}, "max_speed must be at least 0"),
    (MountainCar(), {"min_position": 0.7}, "min_position must be below max_position, got 0.7 and 0.6"),
    *(
        (env, changes, message)
        for env in (MountainCar(), MountainCarContinuous())
        for changes, message in [
            ({"min_position": 0.6}, "min_position must be below max_position, got 0.6 and 0.6"),
            ({"max_position": -0.5}, "reset_high must be at most max_position, got -0.4 and -0.5"),
            ({"min_position": -0.5}, "min_position must be at most reset_low, got -0.5 and -0.6"),
            ({"reset_low": -1.3}, "min_position must be at most reset_low, got -1.2 and -1.3"),
            ({"reset_high": 0.7}, "reset_high must be at most max_position, got 0.7 and 0.6"),
        ]
    ),
    (MountainCar(), {"reset_low": -0.3}, "reset_low must be at most reset_high"),
    (MountainCar(), {"force": -0.001}, "force must be at least 0"),
    *(
        (env, {name: 1e7}, f"{name} must be 0 or of a size")
        for env in (MountainCar(), MountainCarContinuous())
        for name in ("max_position", "goal_position", "goal_velocity", "gravity")
    ),
    (MountainCarContinuous(), {"max_speed": -0.07}, "max_speed must be at least 0"),
    (MountainCarContinuous(), {"power": -0.0015}, "power must be at least 0"),
    (MountainCarContinuous(), {"min_action": -1e7}, "min_action must be 0 or of a size"),
    (MountainCarContinuous(), {"min_position": -1e7}, "min_position must be 0 or of a size"),
    (MountainCarContinuous(), {"max_position": -1.3}, "min_position must be below max_position"),
    (MountainCarContinuous(), {"max_action": -1.5}, "min_action must be at most max_action"),
]
GOOD: list[tuple[Any, dict[str, Any]]] = [
    (CartPole(), {"masscart": 0.0, "x_threshold": float("inf"), "gravity": -9.8, "reset_low": 0.05}),
    (Pendulum(), {"g": 0.0, "x_init": 0.0, "max_torque": 0.0}),
    (Acrobot(), {"link_mass_1": 0.0, "torque_noise_max": -1.0}),
    (MountainCar(), {"goal_position": 5.0, "max_speed": 0.0}),
    (MountainCar(), {"reset_low": -1.2, "reset_high": 0.6}),
    (MountainCarContinuous(), {"min_action": 1.0}),
    (Pendulum(), {"max_speed": float("inf")}),
]


@pytest.mark.parametrize(("env", "changes", "message"), BAD, ids=str)
def test_invalid_values_are_refused(env: Any, changes: dict[str, Any], message: str) -> None:
    check_refused(env, changes, message)


@pytest.mark.parametrize(("env", "changes"), GOOD, ids=str)
def test_all_others_are_taken(env: Any, changes: dict[str, Any]) -> None:
    check_taken(env, changes)


def test_the_table_says_of_every_param_what_it_refuses() -> None:
    check_every_param_is_refused("envcore_classic_control", BAD, [])
