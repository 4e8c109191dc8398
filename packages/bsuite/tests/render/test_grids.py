"""Pictures of Catch and of the deep sea."""

from __future__ import annotations

import numpy as np
import pytest
from bsuite_pictures import pictures_of, states_of
from envcore import painting
from envcore_bsuite.catch import Catch
from envcore_bsuite.deep_sea import DeepSea
from picture_checks import middle, near, state_of


def test_ball_and_paddle_are_in_their_cells() -> None:
    env = Catch()
    state = state_of(env, ball_x=4, ball_y=2, paddle_x=1, paddle_y=9)
    picture = env.render(state, env.default_params, height=110)  # ten pixels a cell
    np.testing.assert_allclose(middle(picture, painting.ORANGE) * 11, [2.0, 2.5], atol=0.05)
    np.testing.assert_allclose(middle(picture, painting.BLUE) * 11, [-1.0, -4.5], atol=0.05)


@pytest.mark.parametrize("size", [2, 50])
def test_the_diver_is_in_its_cell(size: int) -> None:
    env = DeepSea(size=size)
    unit = max(1.0, size / 10)
    cells = np.array([(0, 0), (size // 2, size // 3), (size - 1, 0), (size, size - 1)])  # the last is on the sand
    pictures = pictures_of(env, states_of(env, time=cells[:, 0], column=cells[:, 1]), 128)
    for picture, (row, column) in zip(pictures, cells, strict=True):
        x, y = middle(picture, painting.ORANGE, 10) * (size + 0.5 + unit)
        np.testing.assert_allclose([x + size / 2, y + size / 2 - 0.25], [column + 0.5, size - 0.5 - row], atol=0.25)
        assert near(picture, painting.ORANGE, 10).sum() >= 20


def test_the_chest_is_in_the_bottom_right_cell_and_visible_in_a_large_sea() -> None:
    for size in (8, 50):
        env = DeepSea(size=size)
        picture = env.render(state_of(env), env.default_params, height=128)
        chest = middle(picture, painting.YELLOW, 20) * (size + 0.5 + max(1.0, size / 10))
        np.testing.assert_allclose(chest, [size / 2 - 0.5, 0.75 - size / 2], atol=0.35)
        assert near(picture, painting.YELLOW, 20).sum() >= 30
