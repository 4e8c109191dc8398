"""MetaMaze: its rules, one case per line, its maze, observations and draws."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_misc.meta_maze import MetaMaze
from picture_checks import state_of
from rules import check_rule, rules

SIZES = (3, 7, 9, 11)


def at(row: int, column: int, last_action: int = 0, last_reward: float = 0) -> dict[str, Any]:
    """The agent's place and its last step, with the goal at row 3, column 1."""
    return {"pos": (row, column), "goal": (3, 1), "last_action": last_action, "last_reward": last_reward}


def cell(number: Any) -> Any:
    return number


to, FIRST = at, cell(0)
UP, RIGHT, DOWN, LEFT = range(4)


# Pillars stand where row and column are even, so rows 1, 2, 3, ... have 9, 5, 9, ... free cells.
@rules(
    ("up", at(5, 5), UP, FIRST, to(4, 5), 0, False),
    ("right", at(5, 5), RIGHT, FIRST, to(5, 6, RIGHT), 0, False),
    ("down", at(5, 5), DOWN, FIRST, to(6, 5, DOWN), 0, False),
    ("left", at(5, 5), LEFT, FIRST, to(5, 4, LEFT), 0, False),
    ("a pillar stops it", at(5, 4), UP, FIRST, {}, 0, False),
    ("the upper wall stops it", at(1, 5), UP, FIRST, {}, 0, False),
    ("the right wall stops it", at(5, 9), RIGHT, FIRST, to(5, 9, RIGHT), 0, False),
    ("the lower wall stops it", at(9, 5), DOWN, FIRST, to(9, 5, DOWN), 0, False),
    ("the left wall stops it", at(5, 1), LEFT, FIRST, to(5, 1, LEFT), 0, False),
    ("the last step is forgotten", at(5, 4, DOWN, 10), UP, FIRST, to(5, 4, UP, 0), 0, False),
    ("the goal earns 10 and moves it to the first cell", at(4, 1), UP, FIRST, to(1, 1, UP, 10), 10, False),
    ("or the ninth", at(4, 1), UP, cell(8), to(1, 9, UP, 10), 10, False),
    ("or the first of the second row", at(3, 2), LEFT, cell(9), to(2, 1, LEFT, 10), 10, False),
    ("or the last of it", at(3, 2), LEFT, cell(13), to(2, 9, LEFT, 10), 10, False),
    ("the last cell replaces the goal's own", at(2, 1), DOWN, cell(14), to(9, 9, DOWN, 10), 10, False),
)
def test_rules(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(MetaMaze(), before, action, draws, after, reward, end)


@rules(
    ("a move", at(5, 5), UP, FIRST, to(4, 5), 0, False),
    ("a bump", at(1, 5), UP, FIRST, to(1, 5, UP, -2), -2, False),
    ("the goal", at(4, 1), UP, FIRST, to(1, 1, UP, 3), 3, False),
)
def test_rewards_are_params(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(MetaMaze(), before, action, draws, after, reward, end, reward=3, punishment=-2)


# The original's actions are up, down, left, right, and it subtracts its punishment.
@rules(
    ("0 is up", at(5, 5), 0, FIRST, to(4, 5), 0, False),
    ("1 is down", at(5, 5), 1, FIRST, to(6, 5, 1), 0, False),
    ("2 is left", at(5, 5), 2, FIRST, to(5, 4, 2), 0, False),
    ("3 is right", at(5, 5), 3, FIRST, to(5, 6, 3), 0, False),
    ("a bump costs the punishment", at(1, 5), 0, FIRST, to(1, 5, 0, -2), -2, False),
    ("the goal", at(2, 1), 1, FIRST, to(1, 1, 1, 10), 10, False),
)
def test_the_originals_rules(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(MetaMaze(rules="original"), before, action, draws, after, reward, end, punishment=2)


# A maze of 3 rows and 3 columns has no pillar: it would stand in the center.
@rules(
    ("the center is free", at(1, 2), DOWN, FIRST, to(2, 2, DOWN), 0, False),
    ("the wall is near", at(2, 3), RIGHT, FIRST, to(2, 3, RIGHT), 0, False),
    ("the last cell is the center", at(2, 1), DOWN, cell(5), to(2, 2, DOWN, 10), 10, False),
)
def test_the_smallest_maze(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(MetaMaze(maze_size=3), before, action, draws, after, reward, end)


def original_maze(lab_size: int) -> np.ndarray:
    """The original's maze, with `lab_size` counting the outer walls: 1 where a wall is."""
    lab = np.ones((lab_size, lab_size), int)
    lab[1:-1, 1:-1] = 0
    lab[2:-1:2, 2:-1:2] = 1
    lab[lab_size // 2, lab_size // 2] = 0
    return lab


def free_cells(size: int) -> list[tuple[int, int]]:
    return [(int(row), int(column)) for row, column in np.argwhere(original_maze(size + 2) == 0)]


FIELD = [1, 1, 1, 1, 0, 0, 1, 0, 1]  # the walls around the upper left cell


@pytest.mark.parametrize(
    ("rules", "normalize_time", "shown"),
    [
        ("gymnax", False, [*FIELD, 0, 0, 1, 0, 7.5, 75]),
        ("gymnax", True, [*FIELD, 0, 0, 1, 0, 7.5, 0.5]),
        ("original", False, [*FIELD, 0, 1, 0.375, 7.5, 0, 0, 1, 0]),
    ],
)
def test_what_an_observation_shows(rules: Any, normalize_time: bool, shown: list[float]) -> None:
    env = MetaMaze(rules=rules, rf_size=3)
    state = state_of(env, pos=(1, 1), goal=(3, 1), last_action=2, last_reward=7.5, time=75)
    params = env.default_params.replace(normalize_time=normalize_time)
    np.testing.assert_allclose(env.observe(state, params), shown, rtol=1e-6)


@pytest.mark.parametrize("size", SIZES)
def test_the_maze(size: int) -> None:
    np.testing.assert_array_equal(MetaMaze(maze_size=size).walls, original_maze(size + 2) == 1)


@pytest.mark.parametrize("size", [3, 9, 253])
def test_draws_reach_every_other_cell_once(size: int) -> None:
    """Goals of episodes, starts around a fixed goal, and where the agent is moved from a goal."""
    env, cells = MetaMaze(maze_size=size), set(free_cells(size))
    draws = jnp.arange(len(cells) - 1, dtype=jnp.int32)
    center = (size // 2 + 1, size // 2 + 1)
    base = jax.tree.map(jnp.asarray, env.default_params)
    init_state = jax.jit(jax.vmap(env.init_state, (0, None)))
    assert sorted(places(init_state(draws, base).goal)) == sorted(cells - {center})
    fixed = base.replace(resample_goal_pos=jnp.bool_(False), goal_fixed=jnp.array(center))
    assert sorted(places(init_state(draws, fixed).pos)) == sorted(cells - {center})

    transition = jax.jit(jax.vmap(env.transition, (None, None, 0, None)))
    _, start = env.reset(jax.random.key(0), base)
    for goal in [(1, 1), center, (size, size)]:
        before = (goal[0], goal[1] - 1) if (goal[0], goal[1] - 1) in cells else (goal[0] + 1, goal[1])
        action = RIGHT if before[0] == goal[0] else UP
        state = start.replace(pos=jnp.array(before), goal=jnp.array(goal))
        after, _, _ = transition(state, jnp.int32(action), draws, base)
        assert sorted(places(after.pos)) == sorted(cells - {goal})


def places(cells: jax.Array) -> list[tuple[int, ...]]:
    """Rows and columns."""
    return list(map(tuple, cells.tolist()))


def test_resets_and_draws_are_uniform() -> None:
    env = MetaMaze()
    keys = jax.random.split(jax.random.key(0), 12_800)
    goals = np.asarray(jax.jit(jax.vmap(env.reset))(keys)[1].goal)
    counts = np.zeros((11, 11))
    np.add.at(counts, tuple(goals.T), 1)
    expected = 200.0 * (original_maze(11) == 0)
    expected[5, 5] = 0
    assert expected.sum() == 12_800
    assert (counts[expected == 0] == 0).all()
    assert ((counts - expected) ** 2).sum() / 200 < 63 + 4.5 * np.sqrt(126)
    numbers = np.bincount(jax.jit(jax.vmap(env.draw, (0, None)))(keys, env.default_params), minlength=64)
    assert len(numbers) == 64
    assert ((numbers - 200) ** 2).sum() / 200 < 63 + 4.5 * np.sqrt(126)


@pytest.mark.parametrize("rules", ["gymnax", "original"])
def test_default_params(rules: Any) -> None:
    params = MetaMaze(rules=rules).default_params
    assert (params.reward, params.punishment, params.normalize_time) == (10, 0, False)
    assert (params.resample_goal_pos, params.max_steps_in_episode) == (True, 200)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"maze_size": 8}, "maze_size must be odd and at least 3, got 8"),
        ({"goal_fixed": (2, 2)}, r"goal_fixed must be the row and column of a free cell of the maze, got \(2, 2\)"),
        ({"rules": "gym"}, "rules must be 'gymnax' or 'original', got 'gym'"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MetaMaze(**options)
