"""Invalid params are refused before anything is traced."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from envcore_misc.bernoulli_bandit import BernoulliBandit
from envcore_misc.four_rooms import FourRooms
from envcore_misc.gaussian_bandit import GaussianBandit
from envcore_misc.meta_maze import MetaMaze
from envcore_misc.point_robot import PointRobot
from envcore_misc.pong import Pong
from envcore_misc.reacher import Reacher
from envcore_misc.swimmer import Swimmer
from params_checks import check_any_finite, check_every_param_is_refused, check_refused, check_taken

FREE = "must be the row and column of a free cell, got"
BAD: list[tuple[Any, dict[str, Any], str]] = [
    (FourRooms(), {"goal_fixed": np.array([0, 3])}, rf"FourRoomsParams\.goal_fixed {FREE} \[0 3\]"),  # a wall
    (FourRooms(rules="original"), {"pos_fixed": np.array([-3, 3])}, f"pos_fixed {FREE}"),
    (FourRooms(), {"pos_fixed": np.array([6, 6])}, f"pos_fixed {FREE}"),
    (FourRooms(), {"fail_prob": 1.1}, "fail_prob must be from 0 to 1, got 1.1"),
    (MetaMaze(), {"goal_fixed": np.array([2, 2])}, rf"MetaMazeParams\.goal_fixed {FREE} \[2 2\]"),  # a pillar
    (MetaMaze(maze_size=3), {"goal_fixed": np.array([4, 1])}, f"goal_fixed {FREE}"),
    (Pong(), {"ball_max_y_speed": 30.0}, "ball_max_y_speed must be from 0 to 29, got 30.0"),
    (Pong(height=9), {"ball_max_y_speed": 9.0}, "ball_max_y_speed must be from 0 to 8, got 9.0"),
    (Pong(), {"ball_x_speed": -1.0}, "ball_x_speed must be at least 0"),
    (Pong(), {"paddle_y_speed": -1.0}, "paddle_y_speed must be at least 0"),
    (PointRobot(fixed_goal=True), {"goal": np.array([1e7, 0.0])}, "goal must be 0 or of a size"),
    (PointRobot(), {"max_force": -0.1}, "max_force must be at least 0"),
    (PointRobot(), {"circle_radius": -1.0}, "circle_radius must be at least 0"),
    (PointRobot(), {"goal_radius": -0.2}, "goal_radius must be at least 0"),
    (Reacher(), {"link_lengths": np.array([1.0, -1.0])}, r"link_lengths must be positive, got \[ 1\. -1\.\]"),
    (Reacher(), {"dt": 0.0}, "dt must be positive"),
    (Reacher(), {"torque_scale": -1e30}, "torque_scale must be 0 or of a size"),
    (Reacher(), {"goal_high": np.array([2.0, 1e7])}, "goal_high must be 0 or of a size"),
    (Swimmer(), {"dt": -0.05}, "dt must be positive"),
    (Swimmer(), {"goal_low": np.array([-1e7, 0.0])}, "goal_low must be 0 or of a size"),
    (Swimmer(num_urchins=1), {"urchin_high": np.array([[0.0, 1e7]])}, "urchin_high must be 0 or of a size"),
    (Reacher(), {"goal_low": np.array([0.0, 3.0])}, "goal_low must be at most goal_high"),
    (Swimmer(), {"goal_high": np.array([-2.0, 1.0])}, "goal_low must be at most goal_high"),
    (Swimmer(num_urchins=1), {"urchin_low": np.array([[2.0, 0.0]])}, "urchin_low must be at most urchin_high"),
    (BernoulliBandit(), {"reward_prob": -0.1}, "reward_prob must be from 0 to 1"),
    (BernoulliBandit(arms="given"), {"reward_probs": np.array([0.5, 1.5])}, "reward_probs must be from 0 to 1"),
    (BernoulliBandit(), {"min_lim": 2.0}, "min_lim must be at most max_lim, got 2.0 and 1.0"),
    (BernoulliBandit(), {"max_lim": 1e30}, "max_lim must be 0 or of a size"),
    (GaussianBandit(), {"mean_mu": -1e30}, "mean_mu must be 0 or of a size"),
    (GaussianBandit(), {"sigma_p": -1.0}, "sigma_p must be at least 0"),
    (GaussianBandit(), {"sigma_l": -0.1}, "sigma_l must be at least 0"),
]
ANY_FINITE: list[tuple[Any, tuple[str, ...]]] = [(MetaMaze(), ("reward", "punishment"))]
GOOD: list[tuple[Any, dict[str, Any]]] = [
    (FourRooms(), {"goal_fixed": np.array([3, 6]), "pos_fixed": np.array([1, 1]), "fail_prob": 0.0}),
    (FourRooms(rules="original"), {"fail_prob": 1.0}),
    (MetaMaze(), {"goal_fixed": np.array([5, 5]), "punishment": -1.0}),  # the center
    (MetaMaze(maze_size=7), {"goal_fixed": np.array([4, 4])}),  # free, though both are even
    (Pong(), {"ball_max_y_speed": 29.0, "ball_x_speed": 0.0}),
    (Pong(height=3, paddle_half_height=1), {}),
    (PointRobot(fixed_goal=True), {"goal": np.array([5.0, 5.0]), "goal_radius": 0.0}),
    (Reacher(), {"link_lengths": np.array([0.5, 2.0])}),
    (Swimmer(num_urchins=0), {}),
    (BernoulliBandit(arms="given"), {"reward_probs": np.array([0.0, 1.0])}),
    (GaussianBandit(), {"sigma_p": 0.0, "mean_mu": -5.0}),
]


@pytest.mark.parametrize(("env", "changes", "message"), BAD, ids=str)
def test_invalid_values_are_refused(env: Any, changes: dict[str, Any], message: str) -> None:
    check_refused(env, changes, message)


@pytest.mark.parametrize(("env", "changes"), GOOD, ids=str)
def test_all_others_are_taken(env: Any, changes: dict[str, Any]) -> None:
    check_taken(env, changes)


@pytest.mark.parametrize(("env", "names"), ANY_FINITE, ids=str)
def test_any_finite_number_is_taken(env: Any, names: tuple[str, ...]) -> None:
    check_any_finite(env, names)


def test_the_tables_say_of_every_param_what_it_refuses() -> None:
    check_every_param_is_refused("envcore_misc", BAD, ANY_FINITE)
