"""FourRooms: its rules, one case per line, its map, observations and draws."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.environment import NO_TIME_LIMIT
from envcore_misc.four_rooms import MAP, FourRooms, FourRoomsState
from rules import check_rule, rules

UP, RIGHT, DOWN, LEFT = range(4)


def at(row: int, column: int) -> dict[str, Any]:
    """The agent's place, with the goal at row 8, column 9."""
    return {"pos": (row, column), "goal": (8, 9)}


def astray(direction: Any) -> Any:
    return direction


to, STRAIGHT = at, astray(-1)


@rules(
    ("up", at(2, 2), UP, STRAIGHT, to(1, 2), 0, False),
    ("right", at(2, 2), RIGHT, STRAIGHT, to(2, 3), 0, False),
    ("down", at(2, 2), DOWN, STRAIGHT, to(3, 2), 0, False),
    ("left", at(2, 2), LEFT, STRAIGHT, to(2, 1), 0, False),
    ("the outer wall stops it", at(1, 2), UP, STRAIGHT, {}, 0, False),
    ("so does the wall between rooms", at(2, 5), RIGHT, STRAIGHT, {}, 0, False),
    ("a door lets it pass", at(3, 5), RIGHT, STRAIGHT, to(3, 6), 0, False),
    ("in a door only the way through is free", at(3, 6), DOWN, STRAIGHT, {}, 0, False),
    ("the second door", at(6, 2), DOWN, STRAIGHT, to(7, 2), 0, False),
    ("the third door", at(6, 9), DOWN, STRAIGHT, to(7, 9), 0, False),
    ("the fourth door", at(10, 7), LEFT, STRAIGHT, to(10, 6), 0, False),
    ("the goal ends it", at(8, 8), RIGHT, STRAIGHT, to(8, 9), 1, True),
    ("a step off the goal earns nothing", at(8, 9), RIGHT, STRAIGHT, to(8, 10), 0, False),
    ("the step goes astray", at(2, 2), UP, astray(LEFT), to(2, 1), 0, False),
    ("which may lead to the goal", at(8, 8), UP, astray(RIGHT), to(8, 9), 1, True),
    ("or away from it", at(8, 8), RIGHT, astray(UP), {}, 0, False),
    ("the other direction may be the same", at(2, 2), UP, astray(UP), to(1, 2), 0, False),
)
def test_rules(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(FourRooms(), before, action, draws, after, reward, end)


def is_free(row: int, column: int) -> bool:
    """The map described in code: a cross of walls, bent in the middle, with four doors."""
    if not (1 <= row <= 11 and 1 <= column <= 11):
        return False
    if column == 6:
        return row in (3, 10)
    if row == 6 and column < 6:
        return column == 2
    return not (row == 7 and column > 6) or column == 9


FREE = [cell for cell in itertools.product(range(13), repeat=2) if is_free(*cell)]


def test_the_map() -> None:
    assert [(row, column) for row in range(13) for column in range(13) if MAP[row][column] == " "] == FREE
    assert len(FREE) == 104


NUM_STARTS = 104 * 103


@pytest.mark.parametrize("draws_pos", [False, True])
@pytest.mark.parametrize("draws_goal", [False, True])
@pytest.mark.parametrize(("pos_fixed", "goal_fixed"), [((4, 1), (8, 9)), ((3, 6), (3, 6)), ((11, 11), (3, 6))])
def test_starts(draws_pos: bool, draws_goal: bool, pos_fixed: tuple[int, int], goal_fixed: tuple[int, int]) -> None:
    """Everything that an episode can draw: how often each pair of start and goal results."""
    env = FourRooms()
    params = env.default_params.replace(pos_fixed=np.array(pos_fixed), goal_fixed=np.array(goal_fixed))
    params = params.replace(resample_init_pos=draws_pos, resample_goal_pos=draws_goal)
    params = jax.tree.map(jnp.asarray, params)
    starts = jnp.arange(NUM_STARTS)
    states = jax.jit(jax.vmap(env.init_state, (0, None)))(starts, params)
    counts: dict[Any, int] = {}
    for pair in zip(map(tuple, states.pos.tolist()), map(tuple, states.goal.tolist()), strict=True):
        counts[pair] = counts.get(pair, 0) + 1
    draws_pos |= not draws_goal and pos_fixed == goal_fixed  # or it would be the goal
    allowed_pos = FREE if draws_pos else [pos_fixed]
    allowed_goals = FREE if draws_goal else [goal_fixed]
    pairs = {pair for pair in itertools.product(allowed_pos, allowed_goals) if pair[0] != pair[1]}
    assert counts == dict.fromkeys(pairs, NUM_STARTS // len(pairs))


def test_resets_draw_uniformly() -> None:
    env = FourRooms(rules="original")
    states = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(0), 20_800))[1]
    for place in (states.pos, states.goal):
        counts = np.zeros((13, 13))
        np.add.at(counts, tuple(np.asarray(place).T), 1)
        expected = np.array([200.0 if is_free(*divmod(i, 13)) else 0.0 for i in range(169)]).reshape(13, 13)
        assert (counts[expected == 0] == 0).all()
        assert ((counts - expected) ** 2).sum() / 200 < 103 + 4.5 * np.sqrt(206)
    assert abs(np.corrcoef(states.pos[:, 0], states.goal[:, 0])[0, 1]) < 0.04


@pytest.mark.parametrize("fail_prob", [0.0, 0.25, 1 / 3, 0.75])
def test_steps_go_astray_uniformly(fail_prob: float) -> None:
    """Every direction has the same probability; together they have 4/3 of `fail_prob`."""
    env, keys = FourRooms(), jax.random.split(jax.random.key(0), 40_000)
    draws = jax.jit(jax.vmap(env.draw, (0, None)))(keys, env.default_params.replace(fail_prob=fail_prob))
    counts = np.bincount(np.asarray(draws) + 1, minlength=5)
    expected = 40_000 * np.array([1 - fail_prob * 4 / 3, *[fail_prob / 3] * 4])
    assert counts.sum() == 40_000
    assert (counts[expected < 0.5] == 0).all()
    assert (((counts - expected) ** 2)[expected > 0.5] / expected[expected > 0.5]).sum() < 4 + 4.5 * np.sqrt(8)


def test_what_an_observation_shows() -> None:
    state = FourRoomsState(pos=jnp.array((1, 2)), goal=jnp.array((8, 9)))
    assert FourRooms().observe(state, FourRooms().default_params).tolist() == [1, 2, 8, 9]
    env = FourRooms(use_visual_obs=True)
    walls, agent, goal = np.moveaxis(np.asarray(env.observe(state, env.default_params)), -1, 0)
    np.testing.assert_array_equal(walls, [[mark == "x" for mark in row] for row in MAP])
    assert (np.argwhere(agent).tolist(), np.argwhere(goal).tolist()) == ([[1, 2]], [[8, 9]])


@pytest.mark.parametrize(("rules", "draws", "limit"), [("gymnax", False, 500), ("original", True, NO_TIME_LIMIT)])
def test_default_params(rules: Any, draws: bool, limit: int) -> None:
    params = FourRooms(rules=rules).default_params
    assert params.fail_prob == 1 / 3
    assert (params.resample_init_pos, params.resample_goal_pos, params.max_steps_in_episode) == (draws, draws, limit)
    assert (*params.pos_fixed, *params.goal_fixed) == (4, 1, 8, 9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"goal_fixed": (0, 3)}, r"goal_fixed must be the row and column of a free cell of FourRooms, got \(0, 3\)"),
        ({"rules": "gym"}, "rules must be 'gymnax' or 'original', got 'gym'"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FourRooms(**options)
