"""Windy gridworld: its rules, one line each, and comparisons with the book."""

from __future__ import annotations

import collections
from typing import Any

import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore_example.windy_gridworld import (
    WindyGridworld,
    WindyGridworldParams,
    WindyGridworldState,
)

UP, RIGHT, DOWN, LEFT, UP_RIGHT, DOWN_RIGHT, DOWN_LEFT, UP_LEFT = range(8)
KEY = jax.random.key(0)

Cell = tuple[int, int]


# The grid has 7 rows and 10 columns; the wind is 0 0 0 1 1 1 2 2 1 0.
@pytest.mark.parametrize(
    ("rule", "before", "action", "gust", "after", "reward", "end"),
    [
        ("up", (3, 0), UP, 0, (2, 0), -1, False),
        ("right", (3, 0), RIGHT, 0, (3, 1), -1, False),
        ("down", (3, 0), DOWN, 0, (4, 0), -1, False),
        ("left", (3, 1), LEFT, 0, (3, 0), -1, False),
        ("a king moves up and right", (3, 1), UP_RIGHT, 0, (2, 2), -1, False),
        ("down and right", (3, 1), DOWN_RIGHT, 0, (4, 2), -1, False),
        ("down and left", (3, 1), DOWN_LEFT, 0, (4, 0), -1, False),
        ("up and left", (3, 1), UP_LEFT, 0, (2, 0), -1, False),
        ("a wind of 1 lifts the agent by 1: the book's example", (3, 8), LEFT, 0, (2, 7), -1, False),
        ("a wind of 2 by 2", (5, 6), DOWN, 0, (4, 6), -1, False),
        ("diagonal moves too", (5, 6), DOWN_RIGHT, 0, (4, 7), -1, False),
        ("the wind of the next column does not count", (3, 2), RIGHT, 0, (3, 3), -1, False),
        ("the left edge stops a move", (3, 0), LEFT, 0, (3, 0), -1, False),
        ("the bottom edge", (6, 0), DOWN, 0, (6, 0), -1, False),
        ("the right edge", (3, 9), RIGHT, 0, (3, 9), -1, False),
        ("the top edge stops move and wind", (0, 6), UP, 0, (0, 6), -1, False),
        ("the corner stops both parts of a move", (0, 9), UP_RIGHT, 0, (0, 9), -1, False),
        ("wind and move are added before an edge stops them", (6, 3), DOWN, 0, (6, 3), -1, False),
        ("the goal ends the episode", (5, 6), RIGHT, 0, (3, 7), -1, True),
        ("from either side", (4, 8), LEFT, 0, (3, 7), -1, True),
        ("leaving it does not", (3, 7), UP, 0, (0, 7), -1, False),
        ("a gust makes a wind of 1 stronger", (3, 4), RIGHT, 1, (1, 5), -1, False),
        ("or weaker", (3, 4), RIGHT, -1, (3, 5), -1, False),
        ("and a wind of 2", (3, 7), RIGHT, 1, (0, 8), -1, False),
        ("or weaker", (3, 7), RIGHT, -1, (2, 8), -1, False),
        ("where there is no wind there are no gusts", (3, 0), RIGHT, 1, (3, 1), -1, False),
    ],
)
def test_rules(rule: str, before: Cell, action: int, gust: int, after: Cell, reward: float, end: bool) -> None:
    env = WindyGridworld(king_moves=True)
    state = WindyGridworldState(position=jnp.array(before))
    draws = jnp.int32(gust)
    state, earned, ended = env.transition(state, jnp.int32(action), draws, env.default_params)
    assert (tuple(state.position.tolist()), earned, bool(ended)) == (after, reward, end), rule


@pytest.mark.parametrize(("env", "steps"), [(WindyGridworld(), 15), (WindyGridworld(king_moves=True), 7)])
def test_the_shortest_path_has_the_length_of_the_book(env: WindyGridworld, steps: int) -> None:
    cells = np.argwhere(np.ones((env.rows, len(env.wind))))
    actions = np.arange(env.action_space(env.default_params).n)
    every_move = jax.jit(jax.vmap(jax.vmap(env.transition, (None, 0, None, None)), (0, None, None, None)))
    states = WindyGridworldState(position=jnp.asarray(cells, jnp.int32), time=jnp.zeros(len(cells), jnp.int32))
    after, _, _ = every_move(states, jnp.asarray(actions), jnp.int32(0), env.default_params)
    neighbors = {tuple(cell): set(map(tuple, row)) for cell, row in zip(cells, after.position.tolist(), strict=True)}

    distance, queue = {(3, 0): 0}, collections.deque([(3, 0)])
    while queue:
        here = queue.popleft()
        for there in neighbors[here] - set(distance):
            distance[there] = distance[here] + 1
            queue.append(there)
    assert distance[3, 7] == steps


def test_an_episode() -> None:
    env, params = envcore.make("envcore-example:WindyGridworld-v0")
    _, state = env.reset(KEY, params)
    for action in [RIGHT] * 9 + [DOWN] * 4 + [LEFT]:
        obs, state, reward, done, _ = env.step(KEY, state, action, params)
        assert (obs.tolist(), float(reward), bool(done)) == (state.position.tolist(), -1.0, False)
    obs, _, reward, done, info = env.step(KEY, state, LEFT, params)
    assert (float(reward), bool(done), bool(info["terminated"]), bool(info["truncated"])) == (-1.0, True, True, False)
    assert (info["final_obs"].tolist(), obs.tolist()) == ([3, 7], [3, 0])


@pytest.mark.parametrize(
    ("probability", "share"), [(0.0, (0.0, 1.0, 0.0)), (0.3, (0.3, 0.4, 0.3)), (0.5, (0.5, 0, 0.5))]
)
def test_gusts_have_the_probability_of_the_params(probability: float, share: tuple[float, ...]) -> None:
    num = 10_000
    params = WindyGridworldParams(gust_probability=probability)
    gusts = jax.vmap(WindyGridworld().draw, (0, None))(jax.random.split(KEY, num), params)
    counts = np.bincount(np.asarray(gusts) + 1, minlength=3) / num
    np.testing.assert_allclose(counts, share, atol=4 * np.sqrt(0.25 / num))


def test_start_and_goal_are_params() -> None:
    env, params = envcore.make("envcore-example:WindyGridworld-v0")
    params = params.replace(start=np.array([3, 1]), goal=np.array([3, 2]))
    obs, state = env.reset(KEY, params)
    assert obs.tolist() == [3, 1]
    assert bool(env.step(KEY, state, RIGHT, params)[3])


@pytest.mark.parametrize("options", [{"rows": 3}, {"wind": ()}])
def test_a_grid_without_start_and_goal(options: dict[str, Any]) -> None:
    with pytest.raises(envcore.EnvcoreError, match="must be a row and a column of the grid"):
        envcore.make("envcore-example:WindyGridworld-v0", **options)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"goal": np.array([7, 0])}, r"goal must be a row and a column of the grid, got \[7 0\]"),
        ({"start": np.array([3, -1])}, "start must be a row and a column of the grid"),
        ({"gust_probability": 0.6}, "gust_probability must be from 0 to 0.5, got 0.6"),
    ],
)
def test_bad_params(changes: dict[str, Any], message: str) -> None:
    env, params = envcore.make("envcore-example:WindyGridworld-v0")
    with pytest.raises(envcore.errors.InvalidParamsError, match=message):
        env.reset(KEY, params.replace(**changes))


def test_the_picture_shows_agent_and_goal() -> None:
    env = WindyGridworld()
    state = WindyGridworldState(position=jnp.array([3, 0]))
    picture = np.asarray(env.render(state, env.default_params, height=80)).astype(
        int
    )  # ten pixels per cell, and a margin of five
    assert picture.shape == (80, 110, 3)
    agent, goal, calm, stormy = picture[40, 10], picture[40, 80], picture[10, 10], picture[10, 70]
    assert agent[0] > agent[2] + 50  # orange
    assert goal[1] > goal[0] + 30  # green
    assert calm.sum() > stormy.sum()


@pytest.mark.parametrize("options", [{"rows": 7.0}, {"wind": 5}, {"wind": (0, 0.5)}])
def test_options_that_are_no_grid(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError, match="WindyGridworld-v0 got invalid options: "):
        envcore.make("envcore-example:WindyGridworld-v0", **options)
