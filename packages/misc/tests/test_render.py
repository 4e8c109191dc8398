"""What holds for all pictures: sizes, batches, and that they change with what they show."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from envcore import painting
from envcore_misc.bernoulli_bandit import BernoulliBandit
from envcore_misc.frozen_lake import FrozenLake
from envcore_misc.meta_maze import MetaMaze
from envcore_misc.pong import Pong
from misc_pictures import (
    BERNOULLI,
    GAUSSIAN,
    ICE,
    KEY,
    LAKE,
    MAZE,
    PONG,
    REACHER,
    ROBOT,
    ROOMS,
    SCENE,
    SWIMMER,
    WATER,
    state_of,
)
from picture_checks import CHECKS, Case, middle, params_of

ENVS: list[Any] = [BERNOULLI, GAUSSIAN, ROOMS, LAKE, MAZE, ROBOT, PONG, REACHER, SWIMMER]
ASPECT = {"MetaMaze": 12 / 13, "PointRobot": 1.5, "Pong": 42 / 33}
SHOWN: dict[str, dict[str, Any]] = {
    "BernoulliBandit": {
        "last_action": 0, "last_reward": 0, "time": 80, "exp_reward_best": 0.9, "reward_probs": [0.1, 0.9]
    },
    "GaussianBandit": {"last_action": 0, "last_reward": 0.5, "time": 80, "mu": 0.6},
    "FourRooms": {"pos": [9, 10], "goal": [2, 2]},
    "FrozenLake": {"position": 9},
    "MetaMaze": {"pos": [1, 2], "goal": [7, 3], "last_reward": 10.0, "time": 150},
    "PointRobot": {"pos": [-0.4, 0.1], "goal": [0.6, 0.8], "last_action": [-0.1, 0.1], "last_reward": 1.0},
    "Pong": {
        "ball_position": [20.0, 30.0], "last_ball_position": [9.0, 10.0], "paddle_centers": [15.0, 12.0]
    },
    "Reacher": {"angles": [-0.5, 1.0], "goal_xy": [1.0, -1.5]},
    "Swimmer": {"xy": [-0.5, -0.3], "xy_vel": [-1, 0], "goal_xy": [-0.5, 0], "urchin_xys": [[0.0, 0.2], [0.3, -0.8]]},
}  # fmt: skip
SHAPING: dict[str, dict[str, Any]] = {
    "BernoulliBandit": {"max_steps_in_episode": 40},
    "GaussianBandit": {"max_steps_in_episode": 40, "mean_mu": -3.0, "sigma_p": 0.3, "sigma_l": 1.0},
    "MetaMaze": {"max_steps_in_episode": 90},
    "PointRobot": {"circle_radius": 1.4, "goal_radius": 0.4, "max_force": 0.3},
    "Pong": {"use_ai_policy": False},
    "Reacher": {"link_lengths": [1.5, 0.4], "goal_low": [-4, -4], "goal_high": [4, 4]},
    "Swimmer": {"goal_high": [2, 2], "goal_low": [-2, 0], "urchin_high": [[3, 0], [0, 0]], "urchin_low": [[0, -3]] * 2},
}
COLORS = {
    "BernoulliBandit": [painting.SHADE, painting.GREEN, painting.BLUE, painting.ORANGE, painting.YELLOW, painting.INK],
    "GaussianBandit": [painting.SHADE, painting.RED, painting.BLUE, painting.ORANGE, painting.YELLOW, painting.INK],
    "FourRooms": [painting.PAPER, painting.STONE, painting.GREEN, painting.ORANGE],
    "FrozenLake": [ICE, painting.INK, painting.GREEN, painting.PAPER, painting.ORANGE],
    "MetaMaze": [
        painting.PAPER,
        painting.STONE,
        painting.GREEN,
        painting.ORANGE,
        painting.RED,
        painting.INK,
    ],
    "PointRobot": [painting.SHADE, painting.GREEN, painting.BLUE, (196, 217, 196), (160, 184, 217)],
    "Pong": [painting.INK, painting.STONE, painting.ORANGE, painting.PAPER, painting.YELLOW, (84, 92, 107)],
    "Reacher": [painting.SHADE, painting.STONE, painting.BLUE, painting.ORANGE, painting.GREEN],
    "Swimmer": [WATER, painting.GREEN, painting.RED, painting.ORANGE],
}


CASES = [
    Case(env, ASPECT.get(env.name, 1.0), SCENE[env.name], SHOWN[env.name], SHAPING.get(env.name, {}), COLORS[env.name])
    for env in ENVS
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.env.name)
def test_pictures(case: Case, check: Any) -> None:
    check(case)


def test_names_stand_for_all_actions() -> None:
    named = {env.name for env in ENVS if env.action_names}
    assert named == {"GaussianBandit", "FourRooms", "FrozenLake", "MetaMaze", "Pong"}
    for env in [*ENVS, MetaMaze(rules="original"), Pong(rules="original"), BernoulliBandit("independent", 5)]:
        space = cast("Any", env).action_space(env.default_params)
        assert len(env.action_names) == (space.n if env.action_names else 0)
    assert Pong(rules="original").action_names == ()


@pytest.mark.parametrize(
    ("env", "place"),
    [
        (ROOMS, {"pos": [3, 3]}),
        (MAZE, {"pos": [5, 5]}),
        (MetaMaze(rules="original"), {"pos": [5, 5]}),
        (FrozenLake(desc=("FFF", "FSF", "FFF"), is_slippery=False), {"position": 4}),
    ],
    ids=["FourRooms", "MetaMaze", "MetaMaze-original", "FrozenLake"],
)
def test_the_walker_goes_where_the_name_of_the_action_says(env: Any, place: dict[str, Any]) -> None:
    state, params = state_of(env, **place), params_of(env)
    if env.name == "FourRooms":
        params = params_of(env, fail_prob=0.0)
    before = middle(env.render(state, params, height=130), painting.ORANGE)
    for action, name in enumerate(env.action_names):
        _, after, *_ = env.step_env(KEY, state, action, params)
        x, y = middle(env.render(after, params, height=130), painting.ORANGE) - before
        expected = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}[name]
        np.testing.assert_allclose(np.array([x, y]) / np.hypot(x, y), expected, atol=0.05)
