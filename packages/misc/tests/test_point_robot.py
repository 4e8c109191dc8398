"""PointRobot: its rules, one case per line, its observations and draws."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_misc.point_robot import PointRobot, PointRobotDraws
from lockstep import our_steps
from picture_checks import state_of
from rules import check_rule, rules

GYMNAX, ORIGINAL = PointRobot(), PointRobot("original")
PARAMS = GYMNAX.default_params
KEYS = jax.random.split(jax.random.key(0), 4000)


def at(x: float, y: float) -> dict[str, Any]:
    """The robot's place, with the goal at (0, 1)."""
    return {"pos": (x, y), "goal": (0, 1)}


def move(x: float, y: float) -> np.ndarray:
    return np.array([x, y], np.float32)


def to(x: float, y: float, action: np.ndarray, reward: float = 0, goals_reached: int = 0) -> dict[str, Any]:
    """The robot's place, its last action and reward, and how often it has reached the goal."""
    return {"pos": (x, y), "last_action": action, "last_reward": reward, "goals_reached": goals_reached}


def start(x: Any, y: Any) -> PointRobotDraws:
    return PointRobotDraws(x, y)


AGAIN, REST = start(0.3, 0.4), move(0, 0)
IN, OUT, FAR = move(0, 0.1), move(0, -0.1), move(3, -0.5)


@rules(
    ("it moves", at(0, 0), move(0.05, -0.02), AGAIN, to(0.05, -0.02, move(0.05, -0.02)), 0, False),
    ("by 0.1 along an axis at most", at(0, 0), FAR, AGAIN, to(0.1, -0.1, FAR), 0, False),
    ("at 0.15 from the goal it starts again", at(0, 0.75), IN, AGAIN, to(0.3, 0.4, IN, 1, 1), 1, False),
    ("at 0.25 it does not", at(0, 0.65), IN, AGAIN, to(0, 0.75, IN), 0, False),
    ("the place after the move counts", at(0, 0.85), OUT, AGAIN, to(0, 0.75, OUT), 0, False),
    ("goals are counted", {**at(0, 0.9), "goals_reached": 4}, REST, AGAIN, to(0.3, 0.4, REST, 1, 5), 1, False),
    ("the last reward is forgotten", {**at(0, 0), "last_reward": 1}, REST, AGAIN, to(0, 0, REST), 0, False),
)
def test_rules(before: Any, action: Any, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(GYMNAX, before, action, draws, after, reward, end)


@rules(
    ("it moves", at(0, 0), move(0.05, -0.02), AGAIN, to(0.05, -0.02, move(0.05, -0.02)), 0, False),
    ("as far as the action says", at(0, 0), FAR, AGAIN, to(3, -0.5, FAR), 0, False),
    ("at 0.15 from the goal it stays", at(0, 0.75), IN, AGAIN, to(0, 0.85, IN, 1, 1), 1, False),
    ("at 0.25 it earns nothing", at(0, 0.65), IN, AGAIN, to(0, 0.75, IN), 0, False),
    ("the place after the move counts", at(0, 0.85), OUT, AGAIN, to(0, 0.75, OUT), 0, False),
)
def test_the_originals_rules(before: Any, action: Any, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(ORIGINAL, before, action, draws, after, reward, end)


@rules(
    ("it costs the distance", at(0.6, 0.2), REST, AGAIN, to(0.6, 0.2, REST, -1), -1, False),
    ("after the move", at(0.6, 0.1), IN, AGAIN, to(0.6, 0.2, IN, -1), -1, False),
    ("also within reach of the goal", at(0, 0.75), IN, AGAIN, to(0.3, 0.4, IN, -0.15, 1), -0.15, False),
    ("and nothing at it", at(0, 1), REST, AGAIN, to(0.3, 0.4, REST, 0, 1), 0, False),
)
def test_dense_reward(before: Any, action: Any, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(GYMNAX, before, action, draws, after, reward, end, dense_reward=True)


HALF = move(0, 0.5)


@rules(
    ("moves are longer", at(-1, 0), FAR, AGAIN, to(-0.75, -0.25, FAR), 0, False),
    ("the edge of the goal counts", at(0, 0.25), HALF, AGAIN, to(0.6, 0.8, HALF, 1, 1), 1, False),
    ("starts are twice as far out", at(0, 1), REST, start(-0.5, 0.0), to(-1, 0, REST, 1, 1), 1, False),
)
def test_params(before: Any, action: Any, draws: Any, after: Any, reward: float, end: bool) -> None:
    numbers = {"max_force": 0.25, "goal_radius": 0.5, "circle_radius": 2.0}
    check_rule(GYMNAX, before, action, draws, after, reward, end, **numbers)


@rules(
    ("it starts again at the center", at(0, 1), REST, AGAIN, to(0, 0, REST, 1, 1), 1, False),
)
def test_center_init(before: Any, action: Any, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(GYMNAX, before, action, draws, after, reward, end, center_init=True)


@pytest.mark.parametrize(
    ("env", "normalize_time", "shown"),
    [
        (GYMNAX, True, [0.5, -0.5, 1, 0.25, 3, -0.5]),
        (GYMNAX, False, [0.5, -0.5, 1, 0.25, 3, 25]),
        (ORIGINAL, False, [0.5, -0.5]),
    ],
)
def test_what_an_observation_shows(env: PointRobot, normalize_time: bool, shown: list[float]) -> None:
    state = state_of(env, pos=(0.5, -0.5), last_reward=1, last_action=(0.25, 3), time=25)
    np.testing.assert_allclose(env.observe(state, env.default_params.replace(normalize_time=normalize_time)), shown)


@pytest.mark.parametrize("env", [GYMNAX, ORIGINAL], ids=lambda env: env.rules)
def test_random_steps_follow_the_formulas(env: PointRobot) -> None:
    rng, zeros = np.random.default_rng(0), jnp.zeros(1000)
    places, actions = (scale * rng.normal(size=(1000, 2)).astype(np.float32) for scale in (0.3, 0.1))
    goals = np.tile(np.array([0.2, 0.1], np.float32), (1000, 1))
    start = jax.tree.map(lambda x: np.zeros((1000, *x.shape), x.dtype), state_of(env)).replace(pos=places, goal=goals)
    after, found = our_steps(env, env.default_params, start, actions, PointRobotDraws(zeros, zeros))
    moved = places + (np.clip(actions, -0.1, 0.1) if env is GYMNAX else actions)
    reached = np.hypot(*(moved - goals).T) <= 0.2
    assert 100 < reached.sum() < 900
    np.testing.assert_array_equal(found["reward"], reached)
    np.testing.assert_allclose(after.pos, moved * ~(reached & (env is GYMNAX))[:, None], atol=1e-6)


def test_default_params_are_those_of_the_rules() -> None:
    assert PARAMS.max_steps_in_episode == 100
    assert ORIGINAL.default_params.max_steps_in_episode == 60
    for env in (GYMNAX, ORIGINAL):
        params = env.default_params
        assert (params.max_force, params.circle_radius, params.goal_radius, params.goal) == (0.1, 1.0, 0.2, None)


def is_uniform(sample: Any, low: float, high: float) -> bool:
    counts, _ = np.histogram(sample, 10, (low, high))
    expected = len(sample) / 10
    return bool(counts.sum() == len(sample) and abs(counts - expected).max() < 4.5 * (0.9 * expected) ** 0.5)


def starts(env: PointRobot, radius: float) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """Positions and goals of resets, and positions after goals were reached."""
    params = env.default_params.replace(circle_radius=radius)
    _, state = jax.vmap(env.reset, (0, None))(KEYS, params)
    draws = jax.vmap(env.draw, (0, None))(KEYS, params)
    return [
        (np.asarray(state.pos), np.asarray(state.goal)),
        (radius * np.stack([draws.x, draws.y], axis=1), None),
    ]


def polar(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.hypot(*points.T), np.arctan2(points[:, 1], points[:, 0])


def test_where_episodes_start() -> None:
    limit = 5 / len(KEYS) ** 0.5
    for pos, goal in starts(GYMNAX, 2.0):
        distance, angle = polar(pos)
        assert is_uniform(distance, 0, 2)
        assert is_uniform(angle, 0, np.pi)
        assert abs(np.corrcoef(distance, angle)[0, 1]) < limit
        if goal is not None:
            radius, goal_angle = polar(goal)
            np.testing.assert_allclose(radius, 2, rtol=1e-6)
            assert is_uniform(goal_angle, 0, np.pi)
            assert (abs(np.corrcoef([distance, angle, goal_angle])[2, :2]) < limit).all()
    for pos, goal in starts(ORIGINAL, 2.0):
        assert is_uniform(pos[:, 0], -3, 3)
        assert is_uniform(pos[:, 1], -1, 3)
        assert abs(np.corrcoef(pos.T)[0, 1]) < limit
        if goal is not None:
            assert is_uniform(polar(goal)[1], 0, np.pi)
    for env in (GYMNAX, ORIGINAL):
        params = env.default_params.replace(center_init=True)
        assert not jax.vmap(env.reset, (0, None))(KEYS[:9], params)[1].pos.any()


def test_gradient_exactly_at_the_goal_is_zero() -> None:
    def reward(pos: jax.Array, goal: jax.Array) -> jax.Array:
        state = state_of(GYMNAX).replace(pos=pos, goal=goal)
        return GYMNAX.step(KEYS[0], state, jnp.zeros(2), PARAMS.replace(dense_reward=True))[2]

    for gradient in jax.grad(reward, (0, 1))(jnp.array([0.25, 0.5]), jnp.array([0.25, 0.5])):
        assert gradient.tolist() == [0, 0]


def test_bad_options() -> None:
    with pytest.raises(ValueError, match="rules must be one of gymnax, original, got 'borel'"):
        PointRobot("borel")  # pyright: ignore[reportArgumentType]
