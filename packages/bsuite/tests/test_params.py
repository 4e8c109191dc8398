"""Invalid options and params are rejected before anything is traced."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from envcore_bsuite.bandit import SimpleBandit
from envcore_bsuite.cartpole import CartPole
from envcore_bsuite.cartpole_swingup import CartPoleSwingup
from envcore_bsuite.catch import Catch
from envcore_bsuite.deep_sea import DeepSea
from envcore_bsuite.discounting_chain import DiscountingChain
from envcore_bsuite.memory_chain import MemoryChain
from envcore_bsuite.mountain_car import MountainCar
from envcore_bsuite.umbrella_chain import UmbrellaChain
from envcore_bsuite.wrappers import RewardNoise, RewardScale
from params_checks import check_any_finite, check_every_param_is_refused, check_refused, check_taken

BAD: list[tuple[Any, dict[str, Any], str]] = [
    *(
        (env, changes, message)
        for env in (CartPole(), CartPoleSwingup(), RewardScale(CartPole()))
        for changes, message in [
            ({"length": 0.0}, "length must be positive, got 0.0"),
            ({"x_threshold": 0.0}, "x_threshold must be positive"),
            ({"max_time": 0.0}, "max_time must be positive"),
            ({"timescale": 0.0}, "timescale must be positive"),
            ({"gravity": -1e30}, r"gravity must be 0 or from 1e-12 to 1000000 in magnitude, got -1e\+30"),
            ({"mass_pole": -0.1}, "mass_pole must be at least 0"),
            ({"force_mag": -10.0}, "force_mag must be at least 0"),
            ({"length": 1e-7}, "length must be from 1e-06 to 1000000, got 1e-07"),
            ({"init_range": -0.05}, "init_range must be at least 0"),
            ({"init_range": 1e6}, "init_range must be from 0 to 100"),
            ({"height_threshold": 1.1}, "height_threshold must be from -1 to 1, got 1.1"),
            ({"mass_cart": -1.0}, "mass_cart must be at least 0"),
            ({"mass_cart": 0.0, "mass_pole": 0.0}, "mass_cart must be above 0 where mass_pole is 0"),
        ]
    ),
    (CartPoleSwingup(), {"theta_dot_threshold": -1.0}, "theta_dot_threshold must be at least 0"),
    (CartPoleSwingup(), {"x_reward_threshold": -1.0}, "x_reward_threshold must be at least 0"),
    (CartPoleSwingup(), {"move_cost": 1e7}, "move_cost must be 0 or from 1e-12"),
    (MountainCar(), {"force": -0.001}, "force must be at least 0"),
    *(
        (MountainCar(), {name: 1e7}, f"{name} must be 0 or from 1e-12")
        for name in ("max_position", "goal_position", "gravity")
    ),
    (MountainCar(), {"max_speed": -0.07}, "max_speed must be at least 0"),
    (MountainCar(), {"min_position": 0.7}, "min_position must be below max_position, got 0.7 and 0.6"),
    (MountainCar(), {"max_position": -1.2}, "min_position must be below max_position, got -1.2 and -1.2"),
    (MountainCar(), {"reset_low": -1.3}, "min_position must be at most reset_low, got -1.2 and -1.3"),
    (MountainCar(), {"reset_high": 0.7}, "reset_high must be at most max_position, got 0.7 and 0.6"),
    (MountainCar(), {"reset_low": -0.3}, "reset_low must be at most reset_high"),
    (MemoryChain(), {"memory_length": 0}, "memory_length must be positive, got 0"),
    (UmbrellaChain(), {"chain_length": -1}, "chain_length must be positive, got -1"),
    (DeepSea(2), {"action_mapping": np.array([[0, 1], [1, 2]])}, "action_mapping must be 0 or 1 everywhere, got"),
    (DeepSea(), {"action_mapping": np.full((8, 8), -1)}, "action_mapping must be 0 or 1 everywhere, got"),
    (
        DiscountingChain(),
        {"reward_timestep": np.array([1, 3, -10, 30, 100])},
        r"reward_timestep must be positive, got \[",
    ),
    (RewardNoise(Catch()), {"noise_scale": 1e7}, "noise_scale must be 0 or from 1e-12"),
    (RewardNoise(Catch()), {"noise_scale": -0.5}, r"RewardNoiseParams\.noise_scale must be at least 0, got -0\.5"),
]
ANY_FINITE: list[tuple[Any, tuple[str, ...]]] = [
    (DeepSea(), ("unscaled_move_cost",)),
    (DiscountingChain(), ("rewards",)),
    (SimpleBandit(), ("rewards",)),
    (RewardScale(Catch()), ("reward_scale",)),
]
GOOD: list[tuple[Any, dict[str, Any]]] = [
    (CartPole(), {"mass_cart": 0.0, "gravity": 0.0}),
    (CartPole(), {"max_time": float("inf")}),
    (CartPoleSwingup(), {"height_threshold": -1.0, "x_reward_threshold": float("inf")}),
    (MountainCar(), {"goal_position": 5.0}),
    (MemoryChain(), {"memory_length": 1}),
    (UmbrellaChain(), {"chain_length": 1}),
    (RewardNoise(MountainCar()), {"noise_scale": 0.0, "max_speed": 0.0}),
    (RewardScale(Catch()), {"reward_scale": -1.0}),
]


@pytest.mark.parametrize(("env", "changes", "message"), BAD, ids=str)
def test_invalid_values_are_rejected(env: Any, changes: dict[str, Any], message: str) -> None:
    check_refused(env, changes, message)


@pytest.mark.parametrize(("env", "changes"), GOOD, ids=str)
def test_all_others_are_accepted(env: Any, changes: dict[str, Any]) -> None:
    check_taken(env, changes)


@pytest.mark.parametrize(("env", "names"), ANY_FINITE, ids=str)
def test_any_finite_number_is_accepted(env: Any, names: tuple[str, ...]) -> None:
    check_any_finite(env, names)


def test_the_tables_say_of_every_param_what_it_refuses() -> None:
    check_every_param_is_refused("envcore_bsuite", BAD, ANY_FINITE)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (SimpleBandit, {"num_actions": 1}, "at least 2 arms, got num_actions=1"),
        (SimpleBandit, {"mapping_seed": 1.0}, "must be an integer .* got 1.0"),
        (Catch, {"rows": 1}, "at least 2 rows, got 1"),
        (Catch, {"columns": 2.0}, "columns must be a positive integer, got 2.0"),
        (DeepSea, {"size": 0}, "size must be a positive integer, got 0"),
        (DeepSea, {"mapping_seed": -1}, r"mapping_seed must be an integer from 0 to 2\*\*32 - 1, got -1"),
        (DiscountingChain, {"mapping_seed": -1}, r"mapping_seed must be an integer from 0 to 2\*\*32 - 1, got -1"),
        (MemoryChain, {"num_bits": 0}, r"num_bits from 1 to 65536 and memory_length of at least 1, got 0 and \d+"),
        (UmbrellaChain, {"n_distractor": -1}, "n_distractor must be a positive integer, got -1"),
    ],
)
def test_invalid_options_are_rejected(kind: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind(**options)
