"""Pictures of Breakout and Space Invaders."""

from __future__ import annotations

from typing import Any

import numpy as np
from envcore import painting
from envcore_minatar.breakout import Breakout
from envcore_minatar.space_invaders import SpaceInvaders
from minatar_pictures import cells_with, state_of
from picture_checks import middle

BREAKOUT, INVADERS = Breakout(), SpaceInvaders()
ONE = np.zeros((10, 10), bool)
ONE[4, 6] = True


def invaders(height: int = 210, **fields: Any) -> np.ndarray:
    start = {"enemy_move_interval": 12, "shot_timer": 5, **fields}
    return np.asarray(INVADERS.render(state_of(INVADERS, **start), INVADERS.default_params, height=height))


def test_paddle_ball_and_bricks_are_in_their_cells() -> None:
    bricks = np.zeros((10, 10), bool)
    bricks[[1, 2, 3], [0, 5, 9]] = True
    fields: dict[str, Any] = {"ball_y": 6, "ball_x": 3, "last_y": 6, "last_x": 3, "pos": 7, "brick_map": bricks}
    assert cells_with(BREAKOUT, painting.BLUE, **fields) == [[9, 7]]
    assert cells_with(BREAKOUT, painting.INK, 60, **fields) == [[6, 3]]
    for color, cell in ((painting.RED, [1, 0]), (painting.YELLOW, [2, 5]), (painting.GREEN, [3, 9])):
        assert cells_with(BREAKOUT, color, **fields) == [cell]


def test_cannon_aliens_and_bullets_are_in_their_cells() -> None:
    for name, color in (
        ("alien_map", painting.PAPER),
        ("f_bullet_map", painting.YELLOW),
        ("e_bullet_map", painting.RED),
    ):
        x, y = middle(invaders(210, **{name: ONE}), color) * 10.5
        np.testing.assert_allclose([x, y], [6.5 - 5, 5.5 - 4.75], atol=0.3)
    x, y = middle(invaders(pos=2), painting.ORANGE) * 10.5
    np.testing.assert_allclose([x, y], [2.5 - 5, 0.5 - 4.75], atol=0.3)
