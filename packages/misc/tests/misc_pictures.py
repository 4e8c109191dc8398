"""A scene of each environment, in which every part is visible."""

from __future__ import annotations

from typing import Any

import jax
import picture_checks
from envcore_misc.bernoulli_bandit import BernoulliBandit
from envcore_misc.four_rooms import FourRooms
from envcore_misc.frozen_lake import FrozenLake
from envcore_misc.gaussian_bandit import GaussianBandit
from envcore_misc.meta_maze import MetaMaze
from envcore_misc.point_robot import PointRobot
from envcore_misc.pong import Pong
from envcore_misc.reacher import Reacher
from envcore_misc.swimmer import Swimmer
from picture_checks import params_of

KEY = jax.random.key(0)
ICE = WATER = (205, 226, 240)
BERNOULLI, GAUSSIAN, ROOMS, LAKE, MAZE = BernoulliBandit(), GaussianBandit(), FourRooms(), FrozenLake(), MetaMaze()
ROBOT, PONG, REACHER, SWIMMER = PointRobot(), Pong(), Reacher(), Swimmer(num_urchins=2)
# A state in which every part is visible.
SCENE: dict[str, dict[str, Any]] = {
    "BernoulliBandit": {
        "last_action": 1, "last_reward": 1, "time": 30, "exp_reward_best": 0.8, "reward_probs": [0.3, 0.8]
    },
    "GaussianBandit": {"last_action": 1, "last_reward": -1.5, "time": 30, "mu": -1.2},
    "FourRooms": {"pos": [4, 1], "goal": [8, 9]},
    "FrozenLake": {"position": 2},
    "MetaMaze": {"pos": [5, 5], "goal": [1, 9], "last_reward": -1.0, "time": 50},
    "PointRobot": {"pos": [0.2, 0.3], "goal": [-0.6, 0.8], "last_action": [0.1, 0.02], "time": 3},
    "Pong": {
        "ball_position": [8.0, 12.0], "last_ball_position": [6.0, 11.0], "paddle_centers": [10.0, 20.0]
    },
    "Reacher": {"angles": [0.5, 2.0], "goal_xy": [-1.0, -0.5]},
    "Swimmer": {"xy": [0.1, -0.5], "xy_vel": [0.2, 0.2], "goal_xy": [0.5, 0.6], "urchin_xys": [[-0.5, 0.5], [0.7, 0]]},
}  # fmt: skip


def state_of(env: Any, **fields: Any) -> Any:
    """The state of `SCENE` with other numbers in some fields."""
    return picture_checks.state_of(env, **SCENE[env.name] | fields)


def render(env: Any, height: int, params: Any = None, **fields: Any) -> Any:
    return env.render(state_of(env, **fields), params_of(env, **(params or {})), height=height)
