from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from envcore_misc import pong_view

BALL = jnp.array([2.5, 3.2])
LAST = jnp.array([-1.0, 9.0])  # off the board: it shows in the corner
CENTERS = jnp.array([1.0, 3.0])
NUMBERS = BALL, LAST, CENTERS, jnp.int32(0)


def cells(shown: object) -> list[list[int]]:
    """Rows and columns where something shows."""
    return np.argwhere(np.asarray(shown)).tolist()


LEFT, RIGHT = [[0, 0], [1, 0], [2, 0]], [[2, 5], [3, 5], [4, 5]]


def test_frames_show_paddles_ball_and_the_ball_before() -> None:
    paddles, ball, before = jnp.moveaxis(pong_view.frames(*NUMBERS, 5, 6, 1), -1, 0)
    assert cells(paddles) == sorted(LEFT + RIGHT)
    assert cells(ball) == [[2, 3]]
    assert cells(before) == [[0, 5]]


def test_the_board_numbers_its_pieces() -> None:
    (board,) = pong_view.board(*NUMBERS, 5, 6, 1)
    assert (board.dtype, board.shape) == (jnp.uint8, (5, 6))
    assert cells(board == 1) == sorted(LEFT + RIGHT)
    assert cells(board == 2) == [[2, 3]]
