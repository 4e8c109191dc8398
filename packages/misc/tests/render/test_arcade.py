"""Pictures of Pong."""

from __future__ import annotations

import numpy as np
import pytest
from envcore import painting
from envcore_misc.pong import Pong
from misc_pictures import state_of
from picture_checks import near, params_of


@pytest.mark.parametrize(("width", "height", "half"), [(40, 30, 2), (16, 12, 3)])
def test_pieces_cover_the_cells_that_observations_show(width: int, height: int, half: int) -> None:
    env = Pong(width=width, height=height, paddle_half_height=half)
    fields = {"ball_position": [9.0, 5.0], "last_ball_position": [7.0, 4.0], "paddle_centers": [4.0, 8.0]}
    state = state_of(env, **fields)
    picture = np.asarray(env.render(state, params_of(env), height=(height + 3) * 8))
    assert picture.shape == ((height + 3) * 8, (width + 2) * 8, 3)
    centers = picture[16::8, 12::8][:height, :width]
    paddles, ball, last = np.moveaxis(np.asarray(env.observe(state, env.default_params)), -1, 0)
    np.testing.assert_array_equal(near(centers, painting.ORANGE) | near(centers, painting.PAPER), paddles)
    np.testing.assert_array_equal(near(centers, painting.YELLOW), ball)
    assert near(centers, (84, 92, 107))[last].all()
