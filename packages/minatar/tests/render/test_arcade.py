"""Pictures of Breakout and Space Invaders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from envcore import painting
from envcore_minatar.breakout import Breakout
from envcore_minatar.space_invaders import SpaceInvaders
from minatar_pictures import cells_with, state_of
from picture_checks import middle, near, places

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


def test_neighboring_bricks_are_apart() -> None:
    state = state_of(BREAKOUT, brick_map=np.indices((10, 10))[0] == 2)
    picture = BREAKOUT.render(state, BREAKOUT.default_params, height=240)
    assert (np.diff(near(picture[60], painting.YELLOW).astype(int)) == 1).sum() >= 9


@pytest.mark.parametrize(("direction", "way"), [*enumerate([(-1, 1), (1, 1), (1, -1), (-1, -1)])])
def test_the_nose_of_the_ball_points_where_it_flies(direction: int, way: tuple[int, int]) -> None:
    state = state_of(BREAKOUT, ball_y=5, ball_x=5, last_y=5, last_x=5, ball_dir=direction)
    picture = BREAKOUT.render(state, BREAKOUT.default_params, height=240)
    x, y = middle(picture, painting.INK) * 10 - (0.5, -0.5)
    np.testing.assert_array_equal(np.sign([x, y]), way)


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


def test_bullets_point_where_they_fly() -> None:
    widths = []
    for name, color in (("f_bullet_map", painting.YELLOW), ("e_bullet_map", painting.RED)):
        points = places(invaders(840, **{name: ONE}), color)
        upper = points[points[:, 1] > points[:, 1].mean()]
        widths.append(np.ptp(upper[:, 0]) > 0.02)
    assert widths == [True, False]


def test_aliens_look_where_they_march() -> None:
    left, right = (near(invaders(alien_map=ONE, alien_dir=way), painting.INK)[80:120, 130:150] for way in (-1, 1))
    assert np.nonzero(left)[1].mean() < np.nonzero(right)[1].mean()


def test_the_barrel_grows_until_the_cannon_can_shoot() -> None:
    pictures = [invaders(pos=5, shot_timer=timer) for timer in (5, 3, 1, 0)]
    tops = [places(picture, painting.ORANGE)[:, 1].max() for picture in pictures]
    assert tops[0] < tops[1] < tops[2]
    assert [bool(near(picture, painting.YELLOW).any()) for picture in pictures] == [False, False, False, True]


def test_gauges_show_the_timers() -> None:
    for name, color in (("alien_move_timer", painting.PAPER), ("alien_shot_timer", painting.RED)):
        lengths = [near(invaders(210, **{name: timer}), color).sum() for timer in (0, 4, 9)]
        assert lengths == sorted(set(lengths)), name
