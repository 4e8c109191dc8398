"""What is announced keeps the contract, with other options too."""

from __future__ import annotations

from typing import Any

import envcore
import pytest
from envcore_misc.plugin import envcore_env_specs
from envcore_testing import check_env

OPTIONS: list[tuple[str, dict[str, Any]]] = [
    *((spec.id, {}) for spec in envcore_env_specs()),
    ("BernoulliBandit-misc", {"arms": "given", "num_arms": 3, "time_last": False}),
    ("FourRooms-misc", {"use_visual_obs": True}),
    ("FrozenLake-misc", {"map_name": "8x8"}),
    ("FrozenLake-misc", {"is_slippery": False}),
    ("FrozenLake-misc", {"desc": ("SFS", "FGH")}),
    ("MetaMaze-misc", {"maze_size": 7, "rf_size": 5, "rules": "original"}),
    ("PointRobot-misc", {"rules": "original", "fixed_goal": True}),
    ("Pong-misc", {"rules": "original"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("env_id", "options"), OPTIONS)
def test_environments_keep_the_contract(env_id: str, options: dict[str, Any]) -> None:
    check_env(envcore.make(env_id, **options)[0], num_steps=220)
