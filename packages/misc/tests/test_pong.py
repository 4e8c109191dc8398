"""Pong: its rules, one case per line, its observations and starts."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.environment import NO_TIME_LIMIT
from envcore_misc.pong import Pong, PongStart
from picture_checks import state_of
from rules import check_rule, rules

STAY, UP, DOWN = range(3)


def game(ball: Any, velocity: Any, paddles: Any = (15, 15)) -> dict[str, Any]:
    """Row and column of the ball, its velocity, and the rows of both paddles."""
    return {"ball_position": ball, "ball_velocity": velocity, "paddle_centers": paddles}


to = game


# A board of 30 rows and 40 columns; a paddle has two rows to either side of its center, and nobody moves the right one.
@rules(
    ("the ball flies", game((15, 20), (2, 1)), STAY, None, to((17, 21), (2, 1)), 0, False),
    ("up moves the left paddle", game((5, 20), (0, 1)), UP, None, to((5, 21), (0, 1), (14, 14)), 0, False),
    ("down moves it back", game((5, 20), (0, 1)), DOWN, None, to((5, 21), (0, 1), (16, 16)), 0, False),
    ("the top stops it", game((9, 20), (0, 1), (2, 2)), UP, None, to((9, 21), (0, 1), (2, 2)), 0, False),
    ("the bottom stops it", game((9, 20), (0, 1), (27, 27)), DOWN, None, to((9, 21), (0, 1), (27, 27)), 0, False),
    ("the first row is on the board", game((1, 20), (-1, 1)), STAY, None, to((0, 21), (-1, 1)), 0, False),
    ("above it the ball is reflected", game((1, 20), (-3, 1)), STAY, None, to((2, 21), (3, 1)), 0, False),
    ("the last row is on the board", game((27, 20), (2, 1)), STAY, None, to((29, 21), (2, 1)), 0, False),
    ("below it the ball is reflected", game((29, 20), (1, 1)), STAY, None, to((28, 21), (-1, 1)), 0, False),
    ("in column 2 nothing is hit", game((15, 3), (0, -1)), STAY, None, to((15, 2), (0, -1)), 0, False),
    ("in column 1 the left paddle hits", game((15, 2), (0, -1)), STAY, None, to((15, 1), (0, 1)), 0, False),
    ("column 0 becomes column 2", game((15, 1), (0, -1)), STAY, None, to((15, 2), (0, 1)), 0, False),
    ("column -1 becomes column 3", game((15, 0), (0, -1)), STAY, None, to((15, 3), (0, 1)), 0, False),
    ("with its end it adds a row a step", game((17, 2), (0, -1)), STAY, None, to((17, 1), (1, 1)), 0, False),
    ("half a row is rounded to even: 0", game((16, 2), (0, -1)), STAY, None, to((16, 1), (0, 1)), 0, False),
    ("one and a half to 2", game((16, 2), (1, -1)), STAY, None, to((17, 1), (2, 1)), 0, False),
    ("but not beyond 3", game((14, 2), (3, -1)), STAY, None, to((17, 1), (3, 1)), 0, False),
    ("it misses by a row", game((18, 2), (0, -1)), STAY, None, to((18, 1), (0, -1)), 0, False),
    ("it moves first", game((18, 2), (0, -1)), DOWN, None, to((18, 1), (1, 1), (16, 16)), 0, False),
    ("a ball that is past it costs 1", game((18, 0), (0, -1)), STAY, None, to((18, -1), (0, -1)), -1, True),
    ("in column 38 nothing is hit", game((15, 37), (0, 1)), STAY, None, to((15, 38), (0, 1)), 0, False),
    ("column 39 becomes column 37", game((15, 38), (0, 1)), STAY, None, to((15, 37), (0, -1)), 0, False),
    ("with its end the right one adds a row", game((17, 38), (0, 1)), STAY, None, to((17, 37), (1, -1)), 0, False),
    ("it misses by more than two rows", game((18, 38), (0, 1)), STAY, None, to((18, 39), (0, 1)), 0, False),
    ("a ball that is past that earns 1", game((18, 39), (0, 1)), STAY, None, to((18, 40), (0, 1)), 1, True),
)
def test_rules(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    after = {"last_ball_position": before["ball_position"], **after}
    check_rule(Pong(), before, action, draws, after, reward, end, use_ai_policy=False)


@rules(
    ("up after the ball", game((5, 20), (0, 1)), STAY, None, to((5, 21), (0, 1), (15, 14)), 0, False),
    ("down after it", game((25, 20), (0, 1)), STAY, None, to((25, 21), (0, 1), (15, 16)), 0, False),
    ("never at rest: down beside it", game((15, 20), (0, 1)), STAY, None, to((15, 21), (0, 1), (15, 16)), 0, False),
    ("the ball before its move counts", game((16, 20), (-3, 1)), STAY, None, to((13, 21), (-3, 1), (15, 16)), 0, False),
    ("whatever the agent does", game((5, 20), (0, 1)), DOWN, None, to((5, 21), (0, 1), (16, 14)), 0, False),
    (
        "no further than the edge",
        game((29, 20), (0, 1), (15, 27)),
        STAY,
        None,
        to((29, 21), (0, 1), (15, 27)),
        0,
        False,
    ),
    ("after a point nothing moves", game((15, -1), (1, -1)), DOWN, None, {"last_ball_position": (0, 0)}, 0, True),
    ("on either side", game((15, 40), (1, 1)), DOWN, None, {"last_ball_position": (0, 0)}, 0, True),
)
def test_the_right_paddle_follows_the_ball(
    before: Any, action: int, draws: Any, after: Any, reward: float, end: bool
) -> None:
    after = {"last_ball_position": before["ball_position"], **after}
    check_rule(Pong(), before, action, draws, after, reward, end)


@rules(
    ("each step earns 1", game((15, 20), (2, 1)), (STAY, STAY), None, to((17, 21), (2, 1)), 1, False),
    ("two paddles by 2 rows", game((15, 20), (0, 1)), (UP, DOWN), None, to((15, 21), (0, 1), (13, 17)), 1, False),
    ("beyond the edge", game((9, 20), (0, 1), (-3, 33)), (UP, DOWN), None, to((9, 21), (0, 1), (-4, 34)), 1, False),
    ("half a row is not rounded", game((16, 2), (0, -1)), (STAY, STAY), None, to((16, 1), (0.5, 1)), 1, False),
    ("up to 3 rows a step", game((14, 2), (3, -1)), (STAY, STAY), None, to((17, 1), (3, 1)), 1, False),
    ("a point earns nothing", game((9, 0), (0, -1)), (STAY, STAY), None, to((9, -1), (0, -1)), 0, True),
    ("for either", game((9, 39), (0, 1)), (STAY, STAY), None, to((9, 40), (0, 1)), 0, True),
    ("nothing moves then", game((9, 40), (1, 1)), (UP, DOWN), None, {"last_ball_position": (0, 0)}, 0, True),
)
def test_the_originals_rules(before: Any, action: Any, draws: Any, after: Any, reward: float, end: bool) -> None:
    after = {"last_ball_position": before["ball_position"], **after}
    check_rule(Pong(rules="original"), before, np.array(action, np.int32), draws, after, reward, end)


@rules(
    ("the paddle's speed", game((5, 9), (0, 2)), DOWN, None, to((5, 11), (0, 2), (17, 17)), 0, False),
    ("the ball's maximum speed", game((14, 3), (1, -2)), STAY, None, to((15, 1), (1, 2)), 0, False),
    ("is truncated to an integer", game((16, 3), (1, -2)), STAY, None, to((17, 1), (1, 2)), 0, False),
)
def test_params(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    after = {"last_ball_position": before["ball_position"], **after}
    numbers = {"paddle_y_speed": 2.0, "ball_max_y_speed": 1.5, "ball_x_speed": 2.0, "use_ai_policy": False}
    check_rule(Pong(), before, action, draws, after, reward, end, **numbers)


@pytest.mark.parametrize(("ball", "cell"), [((3.5, 4), (3, 4)), ((9, -1), (9, 0)), ((-2, 40), (0, 39))])
def test_observations_show_the_cells_of_the_pieces(ball: Any, cell: Any) -> None:
    fields = {"ball_position": ball, "last_ball_position": (5, 6), "paddle_centers": (2, 27)}
    paddles = [[row, 0] for row in range(5)] + [[row, 39] for row in range(25, 30)]
    env, original = Pong(), Pong(rules="original")
    channels = np.moveaxis(np.asarray(env.observe(state_of(env, **fields), env.default_params)), -1, 0)
    assert [np.argwhere(channel).tolist() for channel in channels] == [paddles, [list(cell)], [[5, 6]]]
    (board,) = np.asarray(original.observe(state_of(original, **fields), original.default_params))
    assert [np.argwhere(board == piece).tolist() for piece in (1, 2)] == [paddles, [list(cell)]]


def test_starts_are_random() -> None:
    state = jax.vmap(Pong().reset)(jax.random.split(jax.random.key(0), 14_000))[1]
    assert np.unique(state.paddle_centers).tolist() == [15]
    assert np.unique(state.ball_position, axis=0).tolist() == [[15, 20]]
    velocities, counts = np.unique(state.ball_velocity, axis=0, return_counts=True)
    assert velocities.tolist() == [[y, x] for y in range(-3, 4) for x in (-1, 1)]
    assert (np.abs(counts - 1000) < 5 * np.sqrt(1000)).all()


def test_a_start_is_in_the_middle_and_flies_with_the_speed_of_the_params() -> None:
    params = Pong().default_params.replace(ball_x_speed=2.0)
    state = Pong(height=11, width=9).init_state(PongStart(jnp.array(False), jnp.int32(-2)), params)
    np.testing.assert_array_equal(state.paddle_centers, [5, 5])
    np.testing.assert_array_equal(state.ball_position, [5.5, 4.5])
    np.testing.assert_array_equal(state.last_ball_position, [5.5, 4.5])
    np.testing.assert_array_equal(state.ball_velocity, [-2, -2])


def test_the_original_has_one_start() -> None:
    state = Pong(rules="original", height=21).reset(jax.random.key(0))[1]
    assert state.paddle_centers.tolist() == [10.5, 10.5]
    assert state.ball_position.tolist() == [10.5, 20]
    assert state.ball_velocity.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": "atari"}, "rules must be 'gymnax' or 'original', got 'atari'"),
        ({"width": 3}, "got 3 and 30"),
        ({"height": 30.0}, "height must be a positive integer, got 30.0"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Pong(**options)


def test_default_params() -> None:
    original = Pong(rules="original").default_params
    assert Pong().default_params.max_steps_in_episode == 1000
    assert (original.paddle_y_speed, original.max_steps_in_episode) == (2, NO_TIME_LIMIT)
