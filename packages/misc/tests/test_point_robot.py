"""PointRobot: its rules, one case per line, the original's formulas in numpy, and our additions."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_misc.point_robot import PointRobot, PointRobotDraws
from envcore_testing.compilation import quick_jit
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


def formulas(env: PointRobot, params: Any, pos: Any, goal: Any, action: Any, start: Any) -> tuple[Any, float, Any]:
    """One step in float64: the position after it, the reward and the distance to the goal."""
    is_gymnax = env.rules == "gymnax"
    pos = pos + (np.clip(action, -params.max_force, params.max_force) if is_gymnax else action)
    distance = np.sqrt((pos[0] - goal[0]) ** 2 + (pos[1] - goal[1]) ** 2)
    reward = -distance if params.dense_reward else float(distance <= params.goal_radius)
    if is_gymnax and distance <= params.goal_radius:
        pos = np.zeros(2) if params.center_init else params.circle_radius * np.asarray(start)
    return pos, reward, distance


def original_obs(env: PointRobot, params: Any, pos: Any, reward: float, action: Any, time: int) -> np.ndarray:
    if env.rules == "original":
        return np.asarray(pos)
    shown = 2 * time / params.max_steps_in_episode - 1 if params.normalize_time else time
    return np.array([*pos, reward, *action, shown])


@functools.partial(jax.jit, static_argnums=(0, 2))
def play(env: PointRobot, params: Any, num_steps: int, key: jax.Array) -> Any:
    """Makes noisy moves towards the goal: the first obs and state, and the inputs and outputs of every step."""
    obs, state = env.reset(key, params)

    def body(state: Any, key: jax.Array) -> tuple[Any, Any]:
        key_action, key_step = jax.random.split(key)
        action = 0.3 * (state.goal - state.pos) + 0.1 * jax.random.normal(key_action, (2,))
        obs, after, reward, done, info = env.step(key_step, state, action, params)
        return after, (action, env.draw(key_step, params), obs, after, reward, done, info)

    return (obs, state), jax.lax.scan(body, state, jax.random.split(key, num_steps))[1]


@pytest.mark.parametrize(
    ("env", "changes"),
    [
        (GYMNAX, {}),
        pytest.param(
            GYMNAX,
            {"dense_reward": True, "normalize_time": False, "circle_radius": 1.5, "max_force": 0.2},
            marks=pytest.mark.slow,
        ),
        (PointRobot(fixed_goal=True), {"center_init": True, "goal_radius": 0.3, "goal": np.array([0.41, -0.93])}),
        pytest.param(ORIGINAL, {}, marks=pytest.mark.slow),
        pytest.param(
            PointRobot("original", fixed_goal=True),
            {"dense_reward": True, "center_init": True},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_whole_episodes_in_lockstep(env: PointRobot, changes: dict[str, Any]) -> None:
    params, num_steps = env.default_params.replace(**changes), 1500
    (obs, state), steps = jax.device_get(play(env, params, num_steps, jax.random.key(6)))
    action, draws, next_obs, after, reward, done, info = steps
    pos, goal, time, reached = state.pos.astype(float), state.goal.astype(float), 0, 0
    total = 0
    np.testing.assert_allclose(obs, original_obs(env, params, pos, 0, np.zeros(2), 0), atol=1e-6)
    for t in range(num_steps):
        time += 1
        start = draws.x[t], draws.y[t]
        pos, expected, distance = formulas(env, params, pos, goal, action[t].astype(float), start)
        assert abs(distance - params.goal_radius) > 1e-5  # or float32 may be on the other side
        reached += distance <= params.goal_radius
        total += distance <= params.goal_radius
        ended = time >= params.max_steps_in_episode
        assert (done[t], info["truncated"][t], info["terminated"][t]) == (ended, ended, False)
        # Float32 adds up to 100 moves: 100 roundings of 1e-7.
        np.testing.assert_allclose(reward[t], expected, atol=1e-5)
        shown = original_obs(env, params, pos, expected, action[t], time)
        np.testing.assert_allclose(info["final_obs"][t], shown, atol=1e-5)
        if ended:
            pos, goal, time, reached = after.pos[t].astype(float), after.goal[t].astype(float), 0, 0
            shown = original_obs(env, params, pos, 0, np.zeros(2), 0)
        np.testing.assert_allclose(next_obs[t], shown, atol=1e-5)
        np.testing.assert_allclose(after.pos[t], pos, atol=1e-5)
        np.testing.assert_array_equal(after.goal[t], goal)
        assert (after.time[t], after.goals_reached[t]) == (time, reached)
    assert done.sum() == num_steps // params.max_steps_in_episode
    assert 20 < total < num_steps - 20


def test_default_params_are_those_of_the_rules() -> None:
    assert PARAMS.max_steps_in_episode == 100
    assert ORIGINAL.default_params.max_steps_in_episode == 60
    for env in (GYMNAX, ORIGINAL):
        params = env.default_params
        assert (params.max_force, params.circle_radius, params.goal_radius, params.goal) == (0.1, 1.0, 0.2, None)
        np.testing.assert_array_equal(env.action_space(params).high, np.array([0.1, 0.1], np.float32))


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


def flat_step(x: Any) -> jax.Array:
    """One step of ours from (pos, goal, action, max_force, circle_radius) to (obs, goal), with fixed draws."""
    params = PARAMS.replace(max_force=x[6], circle_radius=x[7], dense_reward=True)
    _, state = GYMNAX.reset(KEYS[0], PARAMS)
    state = state.replace(pos=x[:2], goal=x[2:4])
    obs, state, reward, _, _ = GYMNAX.step(KEYS[0], state, x[4:6], params)
    return jnp.concatenate([obs, state.goal, reward[None]])


JACOBIANS = (quick_jit(jax.jacfwd(flat_step)), quick_jit(jax.jacrev(flat_step)))


def original_flat_step(x: np.ndarray, start: tuple[float, float]) -> np.ndarray:
    params = PARAMS.replace(max_force=x[6], circle_radius=x[7], dense_reward=True)
    pos, reward, _ = formulas(GYMNAX, params, x[:2], x[2:4], x[4:6], start)
    return np.array([*original_obs(GYMNAX, params, pos, reward, x[4:6], 1), *x[2:4], reward])


@pytest.mark.parametrize("action", [(0.05, -0.03), (0.5, 0.02), (-0.2, -0.3)])
@pytest.mark.parametrize("pos", [(0.3, 0.4), (-0.6, 0.6), (-1.5, 0.1)])
def test_gradients_are_finite_differences(pos: tuple[float, float], action: tuple[float, float]) -> None:
    x = np.array([*pos, -0.6, 0.7, *action, 0.1, 1.3])
    x = x.astype(np.float32).astype(float)  # exactly what our step gets
    draws = GYMNAX.draw(KEYS[0], PARAMS)
    start = float(draws.x), float(draws.y)
    nudges = 1e-6 * np.eye(len(x))
    expected = np.stack(
        [(original_flat_step(x + h, start) - original_flat_step(x - h, start)) / 2e-6 for h in nudges], axis=1
    )
    for jacobian in JACOBIANS:
        np.testing.assert_allclose(jacobian(jnp.asarray(x, jnp.float32)), expected, rtol=1e-4, atol=1e-5)


def test_gradient_exactly_at_the_goal_is_zero() -> None:
    x = jnp.array([0.25, 0.5, 0.25, 0.5, 0.0, 0.0, 0.125, 1.0])  # stays at the goal
    for jacobian in JACOBIANS:
        rows = np.asarray(jacobian(x))
        assert np.isfinite(rows).all()
        assert not rows[[2, 8]].any()  # the reward's


def test_bad_options() -> None:
    with pytest.raises(ValueError, match="rules must be one of gymnax, original, got 'borel'"):
        PointRobot("borel")  # pyright: ignore[reportArgumentType]
