"""Catch: its rules, one case per line, lockstep with the original, and our additions."""

from __future__ import annotations

from typing import Any

import bsuite_lockstep as lockstep
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bsuite_tasks import CATCH
from envcore_bsuite.catch import Catch
from rules import check_rule, rules

KEY = jax.random.key(0)


LEFT, STAY, RIGHT = range(3)
HIGH = {"ball_x": 2, "ball_y": 4, "paddle_x": 2, "paddle_y": 9}  # the ball over the paddle, in the middle of the board
FALLS = {"ball_y": 5}


@rules(
    ("the ball falls a row", {}, STAY, None, FALLS, 0, False),
    ("left moves the paddle", {}, LEFT, None, {**FALLS, "paddle_x": 1}, 0, False),
    ("right moves the paddle", {}, RIGHT, None, {**FALLS, "paddle_x": 3}, 0, False),
    ("the left wall stops it", {"paddle_x": 0}, LEFT, None, FALLS, 0, False),
    ("the right wall stops it", {"paddle_x": 4}, RIGHT, None, FALLS, 0, False),
    ("a ball on the paddle is caught", {"ball_y": 8}, STAY, None, {"ball_y": 9}, 1, True),
    ("a ball beside it is lost", {"ball_y": 8, "ball_x": 1}, STAY, None, {"ball_y": 9, "total_regret": 2}, -1, True),
    ("the paddle moves first", {"ball_y": 8, "ball_x": 1}, LEFT, None, {"ball_y": 9, "paddle_x": 1}, 1, True),
    ("also away", {"ball_y": 8}, LEFT, None, {"ball_y": 9, "paddle_x": 1, "total_regret": 2}, -1, True),
    ("regret adds up", {"ball_y": 8, "ball_x": 0, "total_regret": 4}, STAY, None,
     {"ball_y": 9, "total_regret": 6}, -1, True),
)  # fmt: skip
def test_rules(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(Catch(), {**HIGH, **before}, action, draws, after, reward, end)


@pytest.mark.parametrize("name", ["catch", "catch.rows6_columns4"])
def test_every_recorded_step(name: str) -> None:
    lockstep.check_recorded(name, CATCH)


@pytest.mark.parametrize("name", ["catch", "catch.rows6_columns4"])
def test_recorded_resets(name: str) -> None:
    lockstep.check_resets(name, CATCH)


def mostly_catches(key: jax.Array, state: Any, params: Any) -> jax.Array:
    chase = 1 + jnp.sign(state.ball_x - state.paddle_x)
    return jnp.where(jax.random.bernoulli(key, 0.6), chase, jax.random.randint(key, (), 0, 3))


@pytest.mark.parametrize(("rows", "columns"), [(10, 5), (2, 1), (3, 4)])
def test_game(rows: int, columns: int) -> None:
    game = lockstep.check_game(lockstep.make("catch", rows=rows, columns=columns), CATCH, mostly_catches, 2000)
    assert game.done.sum() == 2000 // (rows - 1)
    assert (game.reward == 1).sum() > 50
    assert columns == 1 or (game.reward == -1).sum() > 20


def test_balls_fall_in_all_columns_alike() -> None:
    ball_x = jax.vmap(Catch().reset)(jax.random.split(KEY, 2000))[1].ball_x
    counts = np.bincount(ball_x, minlength=5)
    assert len(counts) == 5
    assert (np.abs(counts - 400) < 4 * np.sqrt(2000 * 0.16)).all()
