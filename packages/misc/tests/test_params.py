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
from params_checks import check_refused, check_taken

BAD: list[tuple[Any, dict[str, Any], str]] = [
    (FourRooms(), {"goal_fixed": np.array([0, 3])}, r"goal_fixed must be .* a free cell, got \[0 3\]"),  # a wall
    (FourRooms(), {"fail_prob": 1.1}, "fail_prob must be from 0 to 1, got 1.1"),
    (MetaMaze(), {"goal_fixed": np.array([2, 2])}, r"goal_fixed must be .* a free cell, got \[2 2\]"),  # a pillar
    (Pong(height=9), {"ball_max_y_speed": 9.0}, "ball_max_y_speed must be from 0 to 8, got 9.0"),
    (Pong(), {"ball_x_speed": -1.0}, "ball_x_speed must be at least 0"),
    (PointRobot(fixed_goal=True), {"goal": np.array([1e7, 0.0])}, "goal must be 0 or from 1e-12"),
    (PointRobot(), {"max_force": -0.1}, "max_force must be at least 0"),
    (Reacher(), {"link_lengths": np.array([1.0, -1.0])}, r"link_lengths must be positive, got \[ 1\. -1\.\]"),
    (Reacher(), {"goal_low": np.array([0.0, 3.0])}, "goal_low must be at most goal_high"),
    (Swimmer(num_urchins=1), {"urchin_low": np.array([[2.0, 0.0]])}, "urchin_low must be at most urchin_high"),
    (BernoulliBandit(arms="given"), {"reward_probs": np.array([0.5, 1.5])}, "reward_probs must be from 0 to 1"),
    (BernoulliBandit(), {"min_lim": 2.0}, "min_lim must be at most max_lim, got 2.0 and 1.0"),
    (GaussianBandit(), {"sigma_p": -1.0}, "sigma_p must be at least 0"),
]
GOOD: list[tuple[Any, dict[str, Any]]] = [
    (FourRooms(), {"goal_fixed": np.array([3, 6]), "pos_fixed": np.array([1, 1]), "fail_prob": 0.0}),
    (MetaMaze(), {"goal_fixed": np.array([5, 5]), "punishment": -1.0}),  # the center
    (MetaMaze(maze_size=7), {"goal_fixed": np.array([4, 4])}),  # free, though both are even
    (Pong(), {"ball_max_y_speed": 29.0, "ball_x_speed": 0.0}),
    (PointRobot(fixed_goal=True), {"goal": np.array([5.0, 5.0]), "goal_radius": 0.0}),
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
