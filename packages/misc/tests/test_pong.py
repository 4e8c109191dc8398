"""Pong: its rules, one case per line, those of the original and of gymnax in plain Python, and our additions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_misc.pong import Pong, PongParams, PongStart
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


class PlainGame:
    """One game in Python floats: `rules` as for `Pong`, numbers as in the params."""

    def __init__(self, env: Pong, params: Any, state: Any):
        self.env, self.params = env, params
        self.paddles = [float(x) for x in state.paddle_centers]
        self.y, self.x = (float(x) for x in state.ball_position)
        self.last = (self.y, self.x)
        self.vy, self.vx = (float(x) for x in state.ball_velocity)
        self.events: list[str] = []

    def paddle_moved(self, side: int, direction: int) -> float:
        half, height = self.env.paddle_half_height, self.env.height
        low, high = (half, height - half - 1) if self.env.rules == "gymnax" else (-2 * half, height + 2 * half)
        return min(max(self.paddles[side] + direction * self.params.paddle_y_speed, low), high)

    def step(self, action: Any) -> tuple[float, bool]:
        env, directions = self.env, (0, -1, 1)
        if env.rules == "original":
            self.paddles = [self.paddle_moved(side, directions[int(action[side])]) for side in (0, 1)]
        else:
            right = self.paddle_moved(1, directions[int(action)])
            if self.params.use_ai_policy:
                up, down = self.paddle_moved(1, -1), self.paddle_moved(1, 1)
                right = up if abs(self.y - up) < abs(self.y - down) else down
            self.paddles = [self.paddle_moved(0, directions[int(action)]), right]
        self.last = (self.y, self.x)
        self.y, self.x = self.y + self.vy, self.x + self.vx
        if self.y < 0:
            self.y, self.vy = -self.y, -self.vy
            self.events.append("top")
        if self.y >= env.height:
            self.y, self.vy = 2 * (env.height - 1) - self.y, -self.vy
            self.events.append("bottom")
        left_off, right_off = self.y - self.paddles[0], self.y - self.paddles[1]
        mirrored_left, mirrored_right = 2 - self.x, 2 * (env.width - 2) - self.x
        if mirrored_left >= 1 and abs(left_off) <= env.paddle_half_height:
            self.events.append(f"left {self.x:.0f}")
            self.hit(mirrored_left, left_off)
        if mirrored_right < env.width - 2 and abs(right_off) < env.paddle_half_height + 1:
            self.events.append(f"right {self.x - env.width:.0f}")
            self.hit(mirrored_right, right_off)
        won, lost = self.x >= env.width, self.x < 0
        self.events += ["won"] * won + ["lost"] * lost
        if env.rules == "original":
            return float(not won and not lost), won or lost
        return float(won) - float(lost), won or lost

    def hit(self, mirrored: float, off: float) -> None:
        fastest = self.params.ball_max_y_speed
        self.x, self.vx = mirrored, -self.vx
        self.vy = min(max(self.vy + off / self.env.paddle_half_height, -fastest), fastest)
        if self.env.rules == "gymnax":
            self.vy = float(round(self.vy))

    def picture(self) -> np.ndarray:
        env, half = self.env, self.env.paddle_half_height

        def cell(place: tuple[float, float]) -> tuple[int, int]:
            row, column = (int(np.floor(x)) for x in place)
            return min(max(row, 0), env.height - 1), min(max(column, 0), env.width - 1)

        paddles = [
            cell((np.floor(center) + offset, column))
            for center, column in zip(self.paddles, (0, env.width - 1), strict=True)
            for offset in range(-half, half + 1)
        ]
        if env.rules == "original":
            board = np.zeros((1, env.height, env.width), np.uint8)
            board[0][cell((self.y, self.x))] = 2
            for place in paddles:
                board[0][place] = 1
            return board
        frames = np.zeros((env.height, env.width, 3), np.bool_)
        frames[(*cell((self.y, self.x)), 1)] = frames[(*cell(self.last), 2)] = True
        for place in paddles:
            frames[(*place, 0)] = True
        return frames


def follow(env: Pong, state: Any, given: Any, offset: Any) -> jax.Array:
    """Players that follow the ball at some offset, or else take given actions.

    Args:
      env: its rules decide how many players there are.
      state: of the game.
      given: int32 (2,), an action for each.
      offset: int32 (2,), rows from the ball; above 2 to take the given action.
    """
    off = state.ball_position[0] + offset.astype(jnp.float32) - state.paddle_centers
    action = jnp.where(offset > 2, given, jnp.where(off > 0, 2, jnp.where(off < 0, 1, 0)))
    return action if env.rules == "original" else action[0]


def random_players(steps: int, num_envs: int) -> tuple[jax.Array, np.ndarray, np.ndarray]:
    """Keys, and two random arguments of `follow`, for each step of each environment."""
    rng, keys = np.random.default_rng(0), jax.random.split(jax.random.key(1), (steps, num_envs))
    actions, offset = (rng.integers(low, 3, (steps, num_envs, 2), np.int32) for low in (0, -2))
    return keys, actions, np.where(rng.uniform(size=(steps, num_envs, 1)) < 0.85, offset, np.int32(3))


def play(env: Pong, num_envs: int, steps: int, params: PongParams) -> Any:
    """The first states, and action, state after, obs, reward, done, info of each step; axes (step, environment)."""

    def body(state: Any, given: Any) -> Any:
        action = jax.vmap(lambda *args: follow(env, *args))(state, *given[1:])
        obs, state, reward, done, info = jax.vmap(env.step, (0, 0, 0, None))(given[0], state, action, params)
        return state, (action, state, obs, reward, done, info)

    given = random_players(steps, num_envs)
    _, state = jax.vmap(env.reset, (0, None))(given[0][0], params)
    return jax.tree.map(np.asarray, (state, jax.jit(lambda *args: jax.lax.scan(body, *args)[1])(state, given)))


EVENTS = {"top", "bottom", "left 1", "left 0", "right -1", "lost", "won"}
GAMES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"rules": "original"}, {}),
    (
        {"paddle_half_height": 4, "height": 21, "width": 17},
        {"ball_max_y_speed": 5.0, "ball_x_speed": 2.0, "paddle_y_speed": 2.0, "use_ai_policy": False},
    ),
]


@pytest.mark.parametrize(("options", "numbers"), GAMES)
@pytest.mark.slow
def test_episodes_are_those_of_the_rules(options: dict[str, Any], numbers: dict[str, Any]) -> None:
    env, num_envs, steps = Pong(**options), 4, 800
    tolerance = 1e-5 if env.rules == "original" else 0  # of one step with velocities that are not integers
    params = env.default_params.replace(max_steps_in_episode=500, **numbers)
    start, (actions, states, obs, reward, done, info) = play(env, num_envs, steps, params)
    events: Counter[str] = Counter()
    for i in range(num_envs):
        game, time = PlainGame(env, params, jax.tree.map(lambda x, i=i: x[i], start)), 0
        for t in range(steps):
            expected = game.step(actions[t, i])
            time += 1
            assert (reward[t, i], info["terminated"][t, i]) == expected
            assert done[t, i] == (expected[1] or time == 500)
            if t % 5 == 0 or done[t, i]:
                np.testing.assert_array_equal(info["final_obs"][t, i], game.picture())
            if done[t, i]:
                events.update(game.events)
                game, time = PlainGame(env, params, jax.tree.map(lambda x, t=t, i=i: x[t, i], states)), 0
                np.testing.assert_array_equal(obs[t, i], game.picture())
            after = [*states.ball_position[t, i], *states.ball_velocity[t, i], *states.paddle_centers[t, i]]
            np.testing.assert_allclose(after, [game.y, game.x, game.vy, game.vx, *game.paddles], atol=tolerance)
            assert tuple(states.last_ball_position[t, i]) == game.last
            game.y, game.x, game.vy, game.vx = (float(x) for x in after[:4])
        events.update(game.events)
    assert set(events) >= (EVENTS if params.ball_x_speed == 1 else {"top", "bottom", "lost", "won"})


def test_starts_are_random() -> None:
    env = Pong()
    state = jax.vmap(env.reset)(jax.random.split(jax.random.key(0), 14_000))[1]
    assert np.unique(state.paddle_centers).tolist() == [15]
    assert np.unique(state.ball_position, axis=0).tolist() == [[15, 20]]
    velocities, counts = np.unique(state.ball_velocity, axis=0, return_counts=True)
    assert velocities.tolist() == [[y, x] for y in range(-3, 4) for x in (-1, 1)]
    assert (np.abs(counts - 1000) < 5 * np.sqrt(1000)).all()


def test_forced_start() -> None:
    params = Pong().default_params.replace(ball_x_speed=2.0)
    state = Pong(height=11, width=9).init_state(PongStart(jnp.array(False), jnp.int32(-2)), params)
    np.testing.assert_array_equal(state.paddle_centers, [5, 5])
    np.testing.assert_array_equal(state.ball_position, [5.5, 4.5])
    np.testing.assert_array_equal(state.last_ball_position, [5.5, 4.5])
    np.testing.assert_array_equal(state.ball_velocity, [-2, -2])


def test_the_original_has_one_start() -> None:
    state = jax.vmap(Pong(rules="original", height=21).reset)(jax.random.split(jax.random.key(0), 50))[1]
    assert np.unique(state.paddle_centers).tolist() == [10.5]
    assert np.unique(state.ball_position, axis=0).tolist() == [[10.5, 20]]
    assert np.unique(state.ball_velocity, axis=0).tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": "atari"}, "rules must be 'gymnax' or 'original', got 'atari'"),
        ({"width": 3}, "got 3, 2 and 30"),
        ({"paddle_half_height": 0}, "got 40, 0 and 30"),
        ({"height": 4}, "got 40, 2 and 4"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Pong(**options)


def test_limits() -> None:
    assert Pong().default_params.max_steps_in_episode == 1000
    assert Pong(rules="original").default_params.paddle_y_speed == 2
    assert Pong(rules="original").default_params.max_steps_in_episode == 2**31 - 1
