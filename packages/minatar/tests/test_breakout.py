"""Breakout against the original: its recordings, the package itself, and our additions."""

from __future__ import annotations

from typing import Any

import golden
import jax
import jax.numpy as jnp
import minatar_lockstep as lockstep
import numpy as np
import pytest
from envcore_minatar.breakout import Breakout
from envcore_testing.compilation import quick_jit
from minatar_rules import LEFT, NOTHING, RIGHT, check_step, rules
from minatar_states import replaced

ENV = Breakout(use_minimal_action_set=False)
FROM_LEFT = jnp.bool_(False)
NUMBERS = ("ball_y", "ball_x", "ball_dir", "pos", "last_y", "last_x", "strike", "terminal", "brick_map")
TASK = lockstep.by_name(lambda: ENV.init_state(FROM_LEFT, ENV.default_params), NUMBERS)


def fields(original: Any) -> dict[str, Any]:
    return {name: np.array(getattr(original, name), np.int8) for name in NUMBERS}


def chases(original: Any, rng: np.random.Generator) -> int:
    """Keeps the paddle under the ball, most of the time."""
    if rng.random() < 0.2:
        return int(rng.integers(6))
    return int(np.select([original.ball_x < original.pos, original.ball_x > original.pos], [1, 3], 0))


UP_LEFT, UP_RIGHT, DOWN_RIGHT, DOWN_LEFT = range(4)
WALL, NONE = 2**30 - 1, np.uint32(0)  # of `bricks`


def at(y: int, x: int, direction: int, **others: Any) -> dict[str, Any]:
    """The ball's place and direction, and other fields."""
    return {"ball_y": y, "ball_x": x, "ball_dir": direction, **others}


to = at


@rules(
    ("the ball moves a cell up left", at(6, 5, UP_LEFT), NOTHING, to(5, 4, UP_LEFT), 0, False),
    ("the ball moves a cell up right", at(6, 5, UP_RIGHT), NOTHING, to(5, 6, UP_RIGHT), 0, False),
    ("the ball moves a cell down right", at(6, 5, DOWN_RIGHT), NOTHING, to(7, 6, DOWN_RIGHT), 0, False),
    ("the ball moves a cell down left", at(6, 5, DOWN_LEFT), NOTHING, to(7, 4, DOWN_LEFT), 0, False),
    ("its old place is the trail", at(6, 5, UP_LEFT), NOTHING, {"last_y": 6, "last_x": 5}, 0, False),
    ("left moves the paddle", at(6, 5, UP_LEFT, pos=4), LEFT, {"pos": 3}, 0, False),
    ("right moves the paddle", at(6, 5, UP_LEFT, pos=4), RIGHT, {"pos": 5}, 0, False),
    ("the wall stops the paddle", at(6, 5, UP_LEFT, pos=0), LEFT, {"pos": 0}, 0, False),
    ("the left wall turns the ball", at(6, 0, UP_LEFT), NOTHING, to(5, 0, UP_RIGHT), 0, False),
    ("the right wall turns the ball", at(6, 9, DOWN_RIGHT), NOTHING, to(7, 9, DOWN_LEFT), 0, False),
    ("the top turns the ball", at(0, 5, UP_LEFT), NOTHING, to(0, 4, DOWN_LEFT), 0, False),
    ("a brick breaks and turns the ball", at(4, 5, UP_LEFT), NOTHING, to(4, 4, DOWN_LEFT, strike=True), 1, False),
    ("only that brick breaks", at(4, 5, UP_LEFT), NOTHING, {"bricks": WALL & ~(1 << 24)}, 1, False),
    ("then the ball passes bricks", at(4, 5, UP_LEFT, strike=True), NOTHING, to(3, 4, UP_LEFT, strike=True), 0, False),
    (
        "until it meets a free cell",
        at(6, 5, UP_LEFT, strike=True),
        NOTHING,
        {"strike": False, "bricks": WALL},
        0,
        False,
    ),
    ("above the paddle it bounces up", at(8, 5, DOWN_RIGHT, pos=5), NOTHING, to(8, 6, UP_RIGHT), 0, False),
    ("the paddle moves before the ball", at(8, 5, DOWN_RIGHT, pos=4), RIGHT, to(8, 6, UP_RIGHT), 0, False),
    ("diagonally above it turns back", at(8, 5, DOWN_RIGHT, pos=6), NOTHING, to(8, 6, UP_LEFT), 0, False),
    ("past the paddle the ball is lost", at(8, 5, DOWN_RIGHT, pos=0), NOTHING, to(9, 6, DOWN_RIGHT), 0, True),
    ("at the bottom a new wall appears", at(8, 5, DOWN_LEFT, pos=5, bricks=NONE), NOTHING, {"bricks": WALL}, 0, False),
    ("but no earlier", at(7, 5, DOWN_LEFT, pos=5, bricks=NONE), NOTHING, {"bricks": 0}, 0, False),
    ("after the end nothing moves", at(6, 5, UP_LEFT, terminal=True), LEFT, to(6, 5, UP_LEFT, pos=4), 0, True),
)
def test_rules(before: Any, action: int, after: Any, reward: float, end: bool) -> None:
    state = replaced(ENV.init_state(FROM_LEFT, ENV.default_params), before)
    check_step(ENV, state, action, (), after, reward, end)


def test_every_recorded_step() -> None:
    lockstep.check(TASK, ENV, lockstep.recorded("breakout", lambda recording: ()))


def test_recorded_resets() -> None:
    def starts(recording: golden.Recording) -> Any:
        draws = jnp.asarray(recording.extras["reset_draw.ball_start"]) == 1
        return jax.vmap(ENV.init_state, (0, None))(draws, ENV.default_params)

    lockstep.check_resets(TASK, "breakout", starts)


@pytest.mark.parametrize("policy", [None, chases])
def test_lockstep_with_the_original(policy: Any) -> None:
    steps = lockstep.played("breakout", ENV, fields, lockstep.no_calls, 3000, policy=policy)
    assert steps.reward.sum() > 100
    lockstep.check(TASK, ENV, steps)
    lockstep.check_games(TASK, ENV, steps)


def test_starts_from_either_side() -> None:
    ball_x = np.asarray(quick_jit(jax.vmap(ENV.reset))(jax.random.split(jax.random.key(0), 1000))[1].ball_x)
    assert set(ball_x) == {0, 9}
    assert abs((ball_x == 9).mean() - 0.5) < 4 * 0.5 / 1000**0.5
