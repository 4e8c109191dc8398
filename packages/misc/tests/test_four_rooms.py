"""FourRooms: its rules, one case per line, the original's rules in numpy, and our additions."""

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
DIRECTIONS = ((-1, 0), (0, 1), (1, 0), (0, -1))


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


def original_step(
    pos: tuple[int, int], goal: tuple[int, int], action: int, astray: int
) -> tuple[tuple[int, int], int, bool]:
    if astray >= 0:
        action = astray
    down, right = DIRECTIONS[action]
    target = (pos[0] + down, pos[1] + right)
    pos = target if is_free(*target) else pos
    return pos, int(pos == goal), pos == goal


def as_place(place: np.ndarray) -> tuple[int, int]:
    return int(place[0]), int(place[1])


def play(env: FourRooms, params: Any, num_envs: int, num_steps: int) -> dict[str, np.ndarray]:
    """Games under a random policy: what each step found, drew and returned, arrays (num_envs, num_steps, ...)."""

    def step(state: Any, key: jax.Array) -> Any:
        action = env.action_space(env.default_params).sample(jax.random.fold_in(key, 1))
        obs, after, reward, _, info = env.step(key, state, action, params)
        before = {"pos": state.pos, "goal": state.goal, "time": state.time}
        draws = {"astray": env.draw(key, params)}
        return after, {**before, **draws, **info, "action": action, "reward": reward, "obs": obs}

    def game(key: jax.Array) -> Any:
        start, steps = jax.random.split(key)
        return jax.lax.scan(step, env.reset(start, params)[1], jax.random.split(steps, num_steps))[1]

    steps = jax.jit(jax.vmap(game))(jax.random.split(jax.random.key(3), num_envs))
    return {name: np.asarray(column) for name, column in steps.items()}


@pytest.mark.parametrize(
    ("env", "fail_prob"), [(FourRooms(), 1 / 3), (FourRooms(rules="original"), 1 / 3), (FourRooms(pos_fixed=(8, 7)), 0)]
)
def test_whole_games(env: FourRooms, fail_prob: float) -> None:
    params = env.default_params.replace(fail_prob=fail_prob)
    steps = play(env, params, num_envs=6, num_steps=1200)
    limit = params.max_steps_in_episode
    for game in range(6):
        now = {name: column[game] for name, column in steps.items()}
        pos, goal, time, expected = as_place(now["pos"][0]), as_place(now["goal"][0]), 0, []
        for i in range(1200):
            pos, reward, done = original_step(pos, goal, now["action"][i], now["astray"][i])
            time += 1
            expected.append([*pos, *goal, reward, done, time >= limit])
            if done or time >= limit:
                pos, goal, time = as_place(now["obs"][i, :2]), as_place(now["obs"][i, 2:]), 0
                if env.rules == "gymnax":
                    assert (pos, goal) == (env.pos_fixed, env.goal_fixed)
                assert pos != goal
        columns = [now["final_obs"], *(now[name][:, None] for name in ("reward", "terminated", "truncated"))]
        np.testing.assert_array_equal(np.hstack(columns), expected)
        over = now["terminated"] | now["truncated"]
        np.testing.assert_array_equal(now["obs"][~over], now["final_obs"][~over])
    assert steps["terminated"].sum() > 5
    if env == FourRooms():
        assert steps["truncated"].any()
    if env.rules == "original":
        assert limit == NO_TIME_LIMIT
        assert len({tuple(goal) for goal in steps["goal"].reshape(-1, 2)}) > 12


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


def test_picture_shows_walls_agent_and_goal() -> None:
    env = FourRooms(use_visual_obs=True)
    show = jax.jit(lambda state: env.observe(state, env.default_params))
    for agent, goal in zip(FREE, FREE[5:] + FREE[:5], strict=True):
        picture = np.asarray(show(FourRoomsState(pos=jnp.array(agent), goal=jnp.array(goal))))
        assert picture.dtype == np.bool_
        assert picture.shape == (13, 13, 3)
        np.testing.assert_array_equal(picture[..., 0], [[mark == "x" for mark in row] for row in MAP])
        assert np.argwhere(picture[..., 1]).tolist() == [list(agent)]
        assert np.argwhere(picture[..., 2]).tolist() == [list(goal)]


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
        ({"pos_fixed": (6, 6)}, r"pos_fixed must be .* got \(6, 6\)"),
        ({"rules": "gym"}, "rules must be 'gymnax' or 'original', got 'gym'"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FourRooms(**options)
