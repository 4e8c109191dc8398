"""What the player controls stands out in the picture of every environment: WCAG asks for a contrast of 3.

Two pictures of a state that differ in the player's place differ where the player is in one of them, and there the other
shows what is behind it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from pathlib import Path
from typing import Any

import envcore
import jax
import mnist_files
import numpy as np
import pytest
from picture_checks import contrast

SUITES = {"envcore-classic-control", "envcore-minatar", "envcore-bsuite", "envcore-misc"}
_LEAST = 3.0
_SHARE = 1 / 3  # of the player's pixels; the others are details, and edges that blend with what is behind
# Fields of states with the player in different places; for bandits without one, what their actions change.
PLACES: dict[str, list[dict[str, Any]]] = {
    "Acrobot-v1": [{"joint_angle1": 0.5, "joint_angle2": 0.5}, {"joint_angle1": 3.0, "joint_angle2": -0.5}],
    "Asterix-MinAtar": [{"player_x": 0, "player_y": 1}, {"player_x": 5, "player_y": 4}, {"player_x": 9, "player_y": 8}],
    "BernoulliBandit-misc": [{"time": 5, "last_action": 0}, {"time": 5, "last_action": 1}],
    "Breakout-MinAtar": [{"pos": 0}, {"pos": 6}],
    "CartPole-bsuite": [{"x": -1.0, "theta": 0.1}, {"x": 1.0, "theta": -0.1}],
    "CartPole-v1": [{"x": -1.0, "theta": 0.1}, {"x": 1.0, "theta": -0.1}],
    "CartPoleSwingup-bsuite": [{"x": -1.0, "theta": 3.0}, {"x": 0.0, "theta": 2.0}, {"x": 1.0, "theta": 0.0}],
    "Catch-bsuite": [{"paddle_x": 0}, {"paddle_x": 3}],
    "DeepSea-bsuite": [{"time": row, "column": row // 2} for row in (0, 3, 6, 9, 10)],
    "DeepSeaStochastic-bsuite": [{"time": row, "column": row // 2} for row in (0, 3, 6, 9, 10)],
    "DiscountingChain-bsuite": [{"time": 3, "context": 0}, {"time": 90, "context": 3}],
    "FourRooms-misc": [{"pos": (1, 1)}, {"pos": (3, 6)}, {"pos": (9, 9)}],
    "Freeway-MinAtar": [{"pos": 9}, {"pos": 5}],
    "FrozenLake-misc": [{"position": 0}, {"position": 6}],
    "GaussianBandit-misc": [{"time": 5, "last_action": 0}, {"time": 5, "last_action": 1}],
    "MNISTBandit-bsuite": [{"total_regret": 0.0}, {"total_regret": 5000.0}],
    "MemoryChain-bsuite": [{"time": 3}, {"time": 6}],
    "MetaMaze-misc": [{"pos": (1, 1)}, {"pos": (5, 5)}, {"pos": (9, 9)}],
    "MountainCar-bsuite": [{"position": -1.0}, {"position": -0.5}, {"position": 0.3}],
    "MountainCar-v0": [{"position": -1.0}, {"position": -0.5}, {"position": 0.3}],
    "MountainCarContinuous-v0": [{"position": -1.0}, {"position": -0.5}, {"position": 0.3}],
    "Pendulum-v1": [{"theta": 0.5}, {"theta": 3.0}],
    "PointRobot-misc": [{"pos": (0.0, 0.1)}, {"pos": (0.3, 0.3)}],
    "Pong-misc": [{"paddle_centers": (5.0, 8.0)}, {"paddle_centers": (20.0, 8.0)}],
    "Reacher-misc": [{"angles": (0.5, 1.0)}, {"angles": (2.5, 1.0)}],
    "Seaquest-MinAtar": [{"sub_x": 5, "sub_y": 0}, {"sub_x": 5, "sub_y": 4}, {"sub_x": 8, "sub_y": 8}],
    "SimpleBandit-bsuite": [{"total_regret": 0.0}, {"total_regret": 5000.0}],
    "SpaceInvaders-MinAtar": [{"pos": 0, "shot_timer": 0}, {"pos": 6, "shot_timer": 5}],
    "Swimmer-misc": [{"xy": (-0.5, -0.5)}, {"xy": (0.5, 0.5)}],
    "UmbrellaChain-bsuite": [{"time": 1, "has_umbrella": 1}, {"time": 9, "has_umbrella": 0}],
}


@contextlib.contextmanager
def made(env_id: str, folder: Path) -> Generator[tuple[Any, Any], None, None]:
    with mnist_files.published(folder) if env_id == "MNISTBandit-bsuite" else contextlib.nullcontext():
        yield envcore.make(env_id)


def test_every_environment_has_places() -> None:
    found = envcore.registry.values()
    assert set(PLACES) == {each.spec.id for each in found if each.distribution in SUITES and not each.spec.family}


@pytest.mark.slow
@pytest.mark.parametrize("env_id", PLACES)
def test_the_player_stands_out(env_id: str, tmp_path: Path) -> None:
    with made(env_id, tmp_path) as (env, params):
        start = env.reset(jax.random.key(0), params)[1]
        pictures = []
        for fields in PLACES[env_id]:
            state = start.replace(**{name: np.asarray(x, getattr(start, name).dtype) for name, x in fields.items()})
            pictures.append(np.asarray(env.render(state, params, height=256)))
    for here, there in zip(pictures, [*pictures[1:], pictures[0]], strict=True):
        differs = (here != there).any(-1)
        assert differs.sum() > 100  # pixels
        assert np.quantile(contrast(here[differs], there[differs]), 1 - _SHARE) >= _LEAST
