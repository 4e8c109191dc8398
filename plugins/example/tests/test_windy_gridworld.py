"""Windy gridworld compared with the book, and with transitions computed by hand."""

from __future__ import annotations

import collections
from typing import Any

import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_example.windy_gridworld import (
    WindyGridworld,
    WindyGridworldDraws,
    WindyGridworldParams,
    WindyGridworldState,
)

UP, RIGHT, DOWN, LEFT, UP_RIGHT, DOWN_RIGHT, DOWN_LEFT, UP_LEFT = range(8)
KEY = jax.random.key(0)


def move(position: tuple[int, int], action: int, gust: int = 0, env: WindyGridworld | None = None) -> Any:
    """The result of a move: ((row, column), reward, terminated)."""
    env = env or WindyGridworld(king_moves=True)
    state = WindyGridworldState(position=jnp.array(position))
    draws = WindyGridworldDraws(gust=jnp.int32(gust))
    after, reward, terminated = env.transition(state, jnp.int32(action), draws, env.default_params)
    row, column = after.position.tolist()
    return (row, column), reward, bool(terminated)


@pytest.mark.parametrize(
    ("position", "action", "after"),
    [
        # No wind.
        ((3, 0), UP, (2, 0)),
        ((3, 0), RIGHT, (3, 1)),
        ((3, 0), DOWN, (4, 0)),
        ((3, 1), LEFT, (3, 0)),
        ((3, 1), UP_RIGHT, (2, 2)),
        ((3, 1), DOWN_RIGHT, (4, 2)),
        ((3, 1), DOWN_LEFT, (4, 0)),
        ((3, 1), UP_LEFT, (2, 0)),
        # The wind of the column that the step starts from counts: the book's example, from the right of the goal.
        ((3, 8), LEFT, (2, 7)),
        ((3, 2), RIGHT, (3, 3)),
        ((5, 6), DOWN, (4, 6)),
        ((5, 6), DOWN_RIGHT, (4, 7)),
        # The sum of move and wind is clipped at the edge.
        ((3, 0), LEFT, (3, 0)),
        ((6, 0), DOWN, (6, 0)),
        ((3, 9), RIGHT, (3, 9)),
        ((0, 6), UP, (0, 6)),
        ((6, 3), DOWN, (6, 3)),
        ((0, 9), UP_RIGHT, (0, 9)),
    ],
)
def test_moves(position: tuple[int, int], action: int, after: tuple[int, int]) -> None:
    assert move(position, action) == (after, -1.0, False)


def test_the_goal_terminates() -> None:
    assert move((3, 7), UP) == ((0, 7), -1.0, False)
    assert move((5, 6), RIGHT) == ((3, 7), -1.0, True)
    assert move((4, 8), LEFT) == ((3, 7), -1.0, True)


@pytest.mark.parametrize(
    ("position", "gust", "after"),
    [((3, 4), 1, (1, 5)), ((3, 4), -1, (3, 5)), ((3, 7), 1, (0, 8)), ((3, 7), -1, (2, 8)), ((3, 0), 1, (3, 1))],
)
def test_a_gust_changes_the_wind_where_there_is_one(
    position: tuple[int, int], gust: int, after: tuple[int, int]
) -> None:
    assert move(position, RIGHT, gust) == (after, -1.0, False)


@pytest.mark.parametrize(("env", "steps"), [(WindyGridworld(), 15), (WindyGridworld(king_moves=True), 7)])
def test_the_shortest_path_has_the_length_of_the_book(env: WindyGridworld, steps: int) -> None:
    cells = np.argwhere(np.ones((env.rows, len(env.wind))))
    actions = np.arange(env.make_action_space(env.default_params).n)
    every_move = jax.jit(jax.vmap(jax.vmap(env.transition, (None, 0, None, None)), (0, None, None, None)))
    states = WindyGridworldState(position=jnp.asarray(cells, jnp.int32), time=jnp.zeros(len(cells), jnp.int32))
    after, _, _ = every_move(states, jnp.asarray(actions), WindyGridworldDraws(gust=jnp.int32(0)), env.default_params)
    neighbours = {tuple(cell): set(map(tuple, row)) for cell, row in zip(cells, after.position.tolist(), strict=True)}

    distance, queue = {(3, 0): 0}, collections.deque([(3, 0)])
    while queue:
        here = queue.popleft()
        for there in neighbours[here] - set(distance):
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
    counts = np.bincount(np.asarray(gusts.gust) + 1, minlength=3) / num
    np.testing.assert_allclose(counts, share, atol=4 * np.sqrt(0.25 / num))


def test_start_and_goal_are_params() -> None:
    env, params = envcore.make("envcore-example:WindyGridworld-v0")
    params = params.replace(start=np.array([3, 1]), goal=np.array([3, 2]))
    obs, state = env.reset(KEY, params)
    assert obs.tolist() == [3, 1]
    assert bool(env.step(KEY, state, RIGHT, params)[3])


@pytest.mark.parametrize(
    ("options", "message"),
    [({"rows": 0}, "rows must be at least 1"), ({"wind": ()}, "wind must be"), ({"wind": (0.5,)}, "wind must be")],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(envcore.EnvcoreError, match=message):
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
    picture = np.asarray(env.render(state, height=80)).astype(int)  # ten pixels per cell, and a margin of five
    assert picture.shape == (80, 110, 3)
    agent, goal, calm, stormy = picture[40, 10], picture[40, 80], picture[10, 10], picture[10, 70]
    assert agent[0] > agent[2] + 50  # orange
    assert goal[1] > goal[0] + 30  # green
    assert calm.sum() > stormy.sum()
