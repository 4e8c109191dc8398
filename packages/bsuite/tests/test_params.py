"""Invalid params are rejected before anything is traced."""

from __future__ import annotations

from typing import Any

import pytest
from envcore_bsuite.cartpole import CartPole
from envcore_bsuite.cartpole_swingup import CartPoleSwingup
from envcore_bsuite.catch import Catch
from envcore_bsuite.memory_chain import MemoryChain
from envcore_bsuite.mountain_car import MountainCar
from envcore_bsuite.umbrella_chain import UmbrellaChain
from envcore_bsuite.wrappers import RewardNoise, RewardScale
from params_checks import check_refused, check_taken

BAD: list[tuple[Any, dict[str, Any], str]] = [
    *(
        (env, changes, message)
        for env in (CartPole(), CartPoleSwingup(), RewardScale(CartPole()))
        for changes, message in [
            ({"length": 0.0}, "length must be positive, got 0.0"),
            ({"x_threshold": 0.0}, "x_threshold must be positive"),
            ({"max_time": 0.0}, "max_time must be positive"),
            ({"timescale": -0.01}, "timescale must be at least 0"),
            ({"mass_cart": -1.0}, "mass_cart must be at least 0"),
            ({"mass_cart": 0.0, "mass_pole": 0.0}, "mass_cart must be above 0 where mass_pole is 0"),
        ]
    ),
    (MountainCar(), {"max_speed": -0.07}, "max_speed must be at least 0"),
    (MountainCar(), {"min_position": 0.7}, "min_position must be at most max_position, got 0.7 and 0.6"),
    (MountainCar(), {"reset_low": -0.3}, "reset_low must be at most reset_high"),
    (MemoryChain(), {"memory_length": 0}, "memory_length must be positive, got 0"),
    (UmbrellaChain(), {"chain_length": -1}, "chain_length must be positive, got -1"),
    (RewardNoise(Catch()), {"noise_scale": -0.5}, r"RewardNoiseParams\.noise_scale must be at least 0, got -0\.5"),
]
GOOD: list[tuple[Any, dict[str, Any]]] = [
    (CartPole(), {"mass_cart": 0.0, "gravity": 0.0}),
    (CartPoleSwingup(), {"height_threshold": -1.0}),
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
