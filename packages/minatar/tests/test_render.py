"""What holds for the pictures of all games: sizes, batches, and that they change with what they show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from envcore import painting
from envcore_minatar.asterix import Asterix
from envcore_minatar.breakout import Breakout
from envcore_minatar.freeway import Freeway
from envcore_minatar.render import DIM
from envcore_minatar.seaquest import Seaquest
from envcore_minatar.space_invaders import SpaceInvaders
from minatar_pictures import state_of
from picture_checks import CHECKS, Case


class GameCase(Case):
    def state(self, **fields: Any) -> Any:
        return state_of(self.env, **self.start | fields)


ENTITIES = np.array([[1, 1 + row, row, row % 2, row % 3 == 0] for row in range(1, 9)])
CARS = np.array([[row, row, 0, (row % 5 + 1) * (-1) ** row] for row in range(1, 9)])
ALIENS, OURS, THEIRS = (np.indices((10, 10))[0] == row for row in (2, 5, 6))

CASES = [
    GameCase(
        Breakout(),
        1.0,
        {"ball_y": 6, "ball_x": 3, "ball_dir": 1, "pos": 4, "last_y": 7, "last_x": 2, "brick_map": ALIENS},
        {
            "ball_y": 5, "ball_x": 8, "ball_dir": 2, "pos": 5, "last_y": 5, "last_x": 4, "strike": True,
            "brick_map": np.indices((10, 10))[0] == 1,
        },
        {},
        [painting.SHADE, painting.YELLOW, painting.BLUE, painting.INK, painting.STONE],
    ),
    GameCase(
        SpaceInvaders(),
        1.0,
        {
            "pos": 5, "alien_dir": -1, "enemy_move_interval": 12, "alien_move_timer": 9, "alien_shot_timer": 5,
            "alien_map": ALIENS, "f_bullet_map": OURS, "e_bullet_map": THEIRS,
        },
        {
            "pos": 2, "shot_timer": 3, "alien_dir": 1, "enemy_move_interval": 7, "alien_move_timer": 2,
            "alien_shot_timer": 1, "alien_map": ALIENS.T, "f_bullet_map": OURS.T, "e_bullet_map": THEIRS.T,
        },
        {},
        [painting.INK, painting.PAPER, painting.ORANGE, painting.YELLOW, painting.RED, DIM],
    ),
    GameCase(
        Seaquest(),
        1.0,
        {"oxygen": 120, "sub_x": 5, "sub_y": 4, "diver_count": 2},
        {
            "oxygen": 30, "sub_x": 6, "sub_y": 3, "sub_or": True, "shot_timer": 4, "diver_count": -1,
            "f_bullets": 1 | 3 << 2,
        },
        {},
        [painting.BLUE, painting.YELLOW, painting.GREEN, painting.STONE, painting.SHADE],
    ),
    GameCase(
        Asterix(),
        1.0,
        {
            "player_x": 1, "player_y": 4, "spawn_speed": 10, "spawn_timer": 5, "move_speed": 5, "move_timer": 3,
            "entities": ENTITIES,
        },
        {
            "player_x": 2, "player_y": 5, "spawn_speed": 6, "spawn_timer": 2, "move_speed": 4, "move_timer": 1,
            "entities": ENTITIES * [1, 1, 1, 0, 1],
        },
        {},
        [painting.SHADE, painting.PAPER, painting.ORANGE, painting.RED, painting.YELLOW, painting.INK, painting.STONE],
    ),
    GameCase(
        Freeway(),
        1.0,
        {"pos": 9, "move_timer": 2, "cars": CARS},
        {"pos": 5, "move_timer": 0, "cars": CARS * [1, 1, 1, -1]},
        {},
        [painting.SHADE, painting.INK, painting.ORANGE, painting.RED, painting.YELLOW, painting.GREEN, painting.BLUE],
    ),
]  # fmt: skip


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.env.name)
def test_pictures(case: Case, check: Any) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.env.name)
def test_the_palette_of_the_original(case: Case) -> None:
    """Its window shows the highest channel of each cell."""
    env = type(case.env)(original_palette=True)
    assert env != case.env
    picture = np.asarray(env.render(case.state(), env.default_params, height=20))
    obs = np.asarray(env.observe(case.state(), env.default_params))
    shown = (picture[::2, ::2] != 0).any(-1)
    np.testing.assert_array_equal(shown, obs.any(-1))
