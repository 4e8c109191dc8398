from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from envcore_misc import pong

PIECES = {
    "ball": jnp.array([2.5, 3.2]),
    "last": jnp.array([-1.0, 9.0]),  # off the board: it shows in the corner
    "centers": jnp.array([1.0, 3.0]),
    "time": jnp.int32(0),
}


def cells(shown: object) -> list[list[int]]:
    """Rows and columns where something shows."""
    return np.argwhere(np.asarray(shown)).tolist()


LEFT, RIGHT = [[0, 0], [1, 0], [2, 0]], [[2, 5], [3, 5], [4, 5]]


def test_frames_show_paddles_ball_and_the_ball_before() -> None:
    paddles, ball, before = jnp.moveaxis(pong.observed_frames(**PIECES, sizes=(5, 6, 1)), -1, 0)
    assert cells(paddles) == sorted(LEFT + RIGHT)
    assert cells(ball) == [[2, 3]]
    assert cells(before) == [[0, 5]]


def test_the_board_numbers_its_pieces() -> None:
    (board,) = pong.observed_board(**PIECES, sizes=(5, 6, 1))
    assert (board.dtype, board.shape) == (jnp.uint8, (5, 6))
    assert cells(board == 1) == sorted(LEFT + RIGHT)
    assert cells(board == 2) == [[2, 3]]
