"""Parts of the pictures."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from envcore import painting
from envcore_minatar.render import board, by_row, facing, repeated_both_ways

X, Y = np.array([[0.3, -0.3]], np.float32), np.array([[0.1]], np.float32)


def test_things_outside_the_board_are_not_shown() -> None:
    rows, columns = jnp.array([0, 1, 2, 3, 10]), jnp.array([-1, 10, 4, 5, 0])
    cells = board(rows, columns, jnp.array([True, True, True, False, True]))
    assert np.argwhere(cells).tolist() == [[2, 4]]


@pytest.mark.parametrize("right", [True, False])
def test_a_shape_that_faces_left_is_mirrored(right: bool) -> None:
    nose = painting.box((0.3, 0.1), (0.2, 0.2))
    is_inside = np.asarray(facing(nose, jnp.bool_(right))(jnp.asarray(X), jnp.asarray(Y)) < 0)
    assert is_inside.tolist() == [[right, not right]]


def test_copies_face_the_way_of_their_board() -> None:
    boards = [board(jnp.array([0]), jnp.array([column]), jnp.array([True])) for column in (1, 3)]
    shape = repeated_both_ways(painting.box((0.3, 0.0), (0.2, 0.2)), *boards)
    x, y = jnp.array([[1.2, 1.8, 3.2, 3.8]]), jnp.array([[9.5]])
    assert np.asarray(shape(x, y) < 0).tolist() == [[False, True, True, False]]


def test_rows_have_their_colors() -> None:
    colors = np.zeros((10, 3))
    colors[1:3] = painting.RED, painting.BLUE
    paint = by_row(colors)
    for y, color in ((8.5, painting.RED), (7.5, painting.BLUE), (0.5, (0, 0, 0))):
        assert tuple(map(float, paint(jnp.float32(2.0), jnp.float32(y)))) == color
