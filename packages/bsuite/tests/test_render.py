"""What holds for all pictures: sizes, batches, and that they change with what they show."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from bsuite_pictures import RAIN, SAND
from envcore import painting
from envcore_bsuite.bandit import SimpleBandit
from envcore_bsuite.cartpole import CartPole
from envcore_bsuite.cartpole_swingup import CartPoleSwingup
from envcore_bsuite.catch import Catch
from envcore_bsuite.deep_sea import DeepSea
from envcore_bsuite.discounting_chain import DiscountingChain
from envcore_bsuite.memory_chain import MemoryChain
from envcore_bsuite.mnist import MNISTBandit
from envcore_bsuite.mountain_car import MountainCar
from envcore_bsuite.umbrella_chain import UmbrellaChain
from envcore_bsuite.wrappers import RewardNoise, RewardScale
from picture_checks import CHECKS, Case

CASES = {
    "bandit": Case(
        SimpleBandit(),
        1.5,
        {"total_regret": 30.0},
        {"total_regret": 300.0},
        {"rewards": np.linspace(0.0, 1.0, 11)},
        [painting.SHADE, painting.BLUE, painting.GREEN, painting.RED],
    ),
    "cartpole": Case(
        CartPole(),
        2.0,
        {"x": 0.0, "theta": 0.1},
        {"x": 0.3, "theta": 0.3},
        {"length": 0.7, "x_threshold": 2.4, "height_threshold": 0.5},
        [painting.SHADE, painting.STONE, painting.INK, painting.BLUE, painting.ORANGE, painting.GREEN],
    ),
    "cartpole_swingup": Case(
        CartPoleSwingup(),
        2.0,
        {"x": 0.0, "theta": 0.1, "theta_dot": 0.5},
        {"x": 0.3, "theta": 0.3, "theta_dot": -1.5},
        {
            "length": 0.7,
            "x_threshold": 2.4,
            "height_threshold": 0.2,
            "x_reward_threshold": 0.5,
            "theta_dot_threshold": 0.2,
        },
        [painting.SHADE, painting.STONE, painting.INK, painting.BLUE, painting.ORANGE, painting.GREEN],
    ),
    "catch": Case(
        Catch(),
        6 / 11,
        {"ball_x": 1, "paddle_x": 2, "paddle_y": 9},
        {"ball_x": 3, "ball_y": 4, "paddle_x": 0},
        {},
        [painting.SHADE, painting.BLUE, painting.ORANGE],
    ),
    "deep_sea": Case(
        DeepSea(),
        9 / 9.5,
        {"time": 3, "column": 2},
        {"time": 4, "column": 5, "bad_episode": True},
        {},
        [SAND, painting.YELLOW, painting.ORANGE],
    ),
    "discounting_chain": Case(
        DiscountingChain(),
        1.5,
        {"time": 12, "context": 2},
        {"time": 30, "context": 3},
        {
            "rewards": np.array([1.0, 1.0, 1.0, 1.0, 2.0]),
            "reward_timestep": np.array([2, 3, 10, 30, 100]),
            "max_steps_in_episode": 200,
        },
        [painting.STONE, painting.INK, painting.YELLOW, painting.GREEN, painting.ORANGE],
    ),
    "memory_chain": Case(
        MemoryChain(num_bits=5),
        1.5,
        {"time": 5, "context": [1, 0, 1, 1, 0], "query": 1},
        {"time": 1, "context": [1, 0, 1, 1, 1], "query": 3},
        {"memory_length": 9},
        [painting.SHADE, painting.STONE, painting.INK, painting.YELLOW, painting.BLUE, painting.ORANGE],
    ),
    "mnist": Case(
        None,
        0.875,
        {"index": 1, "correct_label": 4, "total_regret": 4.0},
        {"index": 2, "correct_label": 5, "total_regret": 400.0},
        {},
        [(255, 255, 255), painting.INK, painting.STONE, painting.GREEN, painting.SHADE, painting.RED],
    ),
    "mountain_car": Case(
        MountainCar(),
        1.5,
        {"position": -0.5},
        {"position": -0.9},
        {"goal_position": 0.3, "min_position": -1.0, "max_position": 0.5},
        [painting.STONE, painting.RED, painting.GREEN, painting.BLUE, painting.INK],
    ),
    "umbrella_chain": Case(
        UmbrellaChain(n_distractor=20),
        1.5,
        {"time": 3, "need_umbrella": 1, "has_umbrella": 1, "distractors": [0x0F0F3]},
        {"time": 0, "need_umbrella": 0, "has_umbrella": 0, "distractors": [0x0F0F2]},
        {"chain_length": 20},
        [painting.STONE, painting.SHADE, painting.INK, painting.BLUE, painting.ORANGE, RAIN],
    ),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, mnist: MNISTBandit) -> Case:
    case = CASES[request.param]
    if case.env is not None:
        return case
    images = 255 - np.asarray(mnist.default_params.images)
    return dataclasses.replace(case, env=mnist, shaping={"images": images})


@pytest.mark.parametrize("check", CHECKS)
def test_pictures(case: Case, check: Any) -> None:
    check(case)


def test_wrappers_show_what_is_inside(case: Case) -> None:
    state = case.state()
    picture = case.env.render(state, case.env.default_params, height=64)
    for wrapped in (RewardNoise(case.env, 0.5), RewardScale(case.env, 30.0)):
        assert (wrapped.action_names, wrapped.render_fps) == (case.env.action_names, case.env.render_fps)
        np.testing.assert_array_equal(wrapped.render(state, wrapped.default_params, height=64), picture)
