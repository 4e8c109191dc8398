"""Reacher against the original's formulas in float64, and our additions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_misc.reacher import Reacher, ReacherParams, ReacherStart, ReacherState
from gradients import check_finite_differences
from rules import check_rule, rules
from uniform_draws import check_uniform_draws

# The error of float32: 100 roundings of angles up to 33 rad, whose last bit is 2e-6, most of them of far smaller ones.
ATOL = 5e-5
NUMBERS: dict[str, Any] = {"torque_scale": 1.0, "dt": 0.05, "lengths": 1.0}
UP, BACK = np.pi / 2, np.pi  # angles of a link
FAR = (100, 0)  # a goal too far away for a reward


def arm(angles: Any, goal: Any, speeds: Any = (0, 0)) -> dict[str, Any]:
    return {"angles": angles, "angle_vels": speeds, "goal_xy": goal}


def torques(first: float, second: float) -> np.ndarray:
    return np.array([first, second], np.float32)


NONE = torques(0, 0)


@rules(
    ("a straight arm reaches to 2", arm((0, 0), (2, 0)), NONE, None, {}, 1, False),
    ("angles are from the x axis: up and up is straight", arm((UP, UP), (0, 2)), NONE, None, {}, 1, False),
    ("across and up", arm((0, UP), (1, 1)), NONE, None, {}, 1, False),
    ("a distance of 1 earns exp(-1)", arm((0, BACK), (0, 1)), NONE, None, {}, np.exp(-1), False),
    ("a distance of 2 earns exp(-4)", arm((0, 0), (4, 0)), NONE, None, {}, np.exp(-4), False),
    ("a torque turns its link", arm((0, 0), FAR), torques(1, 0), None, arm((0.0025, 0), FAR, (0.05, 0)), 0, False),
    ("and no other", arm((0, 0), FAR), torques(0, -1), None, arm((0, -0.0025), FAR, (0, -0.05)), 0, False),
    ("links keep turning", arm((1, 2), FAR, (2, -4)), NONE, None, arm((1.1, 1.8), FAR, (2, -4)), 0, False),
    ("without a limit", arm((7, 0), FAR, (200, 0)), NONE, None, arm((17, 0), FAR, (200, 0)), 0, False),
    (
        "the reward is of the new angles",
        arm((-0.1, 0.1), (2, 0), (2, -2)),
        NONE,
        None,
        arm((0, 0), (2, 0), (2, -2)),
        1,
        False,
    ),
)
def test_rules(before: Any, action: Any, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(Reacher(), before, action, draws, after, reward, end)


@rules(
    ("lengths of the links", arm((0, UP), (2, 0.5)), NONE, None, {}, 1, False),
    ("torque and time", arm((0, 0), FAR), torques(1, -0.5), None, arm((1, -0.5), FAR, (2, -1)), 0, False),
)
def test_params(before: Any, action: Any, draws: Any, after: Any, reward: float, end: bool) -> None:
    numbers = {"link_lengths": np.array([2.0, 0.5]), "torque_scale": 4.0, "dt": 0.5}
    check_rule(Reacher(), before, action, draws, after, reward, end, **numbers)


@rules(
    ("up", {"angles": (UP,), "goal_xy": (0, 1)}, np.zeros(1), None, {}, 1, False),
)
def test_an_arm_of_one_link(before: Any, action: Any, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(Reacher(num_joints=1), before, action, draws, after, reward, end)


def original_step(angles: Any, velocities: Any, goal: Any, action: Any, numbers: dict[str, Any] = NUMBERS) -> Any:
    """The original's step, over batches: angles, velocities, reward."""
    velocities = velocities + numbers["dt"] * (numbers["torque_scale"] * action)
    angles = angles + numbers["dt"] * velocities
    end = np.stack([(numbers["lengths"] * np.cos(angles)).sum(-1), (numbers["lengths"] * np.sin(angles)).sum(-1)], -1)
    return angles, velocities, np.exp(-((end - goal) ** 2).sum(-1))


def original_observation(angles: Any, velocities: Any, goal: Any) -> Any:
    return np.concatenate([np.cos(angles), np.sin(angles), velocities, goal], -1)


def play(env: Reacher, num_envs: int, steps: int, params: ReacherParams | None = None) -> Any:
    """The first states, and action, state after, obs, reward, done, info of each step; axes (step, environment)."""

    def body(state: Any, given: Any) -> Any:
        obs, state, reward, done, info = jax.vmap(env.step, (0, 0, 0, None))(given[0], state, given[1], params)
        return state, (given[1], state, obs, reward, done, info)

    keys = jax.random.split(jax.random.key(1), (steps, num_envs))
    actions = np.random.default_rng(0).uniform(-1, 1, (steps, num_envs, env.num_joints)).astype(np.float32)
    _, state = jax.vmap(env.reset, (0, None))(keys[0], params)
    return jax.tree.map(
        np.asarray, (state, jax.jit(lambda *given: jax.lax.scan(body, *given)[1])(state, (keys, actions)))
    )


def fields(state: Any) -> list[Any]:
    return [np.asarray(x, np.float64) for x in (state.angles, state.angle_vels, state.goal_xy)]


@pytest.mark.parametrize("num_joints", [1, 2, pytest.param(5, marks=pytest.mark.slow)])
def test_episodes_are_the_originals(num_joints: int) -> None:
    start, (actions, states, obs, reward, done, info) = play(Reacher(num_joints), 16, 230)
    angles, velocities, goal = fields(start)
    for t in range(230):
        angles, velocities, expected = original_step(angles, velocities, goal, actions[t].astype(np.float64))
        seen = original_observation(angles, velocities, goal)
        np.testing.assert_allclose(reward[t], expected, atol=ATOL)
        np.testing.assert_allclose(info["final_obs"][t], seen, atol=ATOL)
        assert (done[t] == (t % 100 == 99)).all()
        if done[t].all():
            angles, velocities, goal = fields(jax.tree.map(lambda x, t=t: x[t], states))
            seen = original_observation(angles, velocities, goal)
        np.testing.assert_allclose(obs[t], seen, atol=ATOL)
    assert not info["terminated"].any()
    assert (np.unique(states.goal_xy[:, 0, 0]).size, states.goal_xy.shape) == (3, (230, 16, 2))


def test_forced_draws() -> None:
    env = Reacher(2)
    draws = ReacherStart(jnp.array([0.0, 0.75]), jnp.array([0.5, 0.0]), jnp.array([0.0, 0.25]))
    params = jax.tree.map(jnp.asarray, env.default_params)
    state = env.init_state(draws, params)
    np.testing.assert_allclose(state.angles, [-np.pi, np.pi / 2], rtol=1e-6)
    np.testing.assert_array_equal(state.angle_vels, [0, -1])
    np.testing.assert_array_equal(state.goal_xy, [-2, -1])
    state = env.init_state(draws, params.replace(goal_low=jnp.array([3.0, 1.0]), goal_high=jnp.array([5.0, 2.0])))
    np.testing.assert_array_equal(state.goal_xy, [3, 1.25])


def test_starts_are_uniform_and_independent() -> None:
    env = Reacher(3)
    state = jax.vmap(env.reset)(jax.random.split(jax.random.key(0), 4096))[1]
    bounds = np.repeat([np.pi, 1, 3], [3, 3, 2])
    scaled = np.concatenate(fields(state), -1) / bounds
    assert (np.abs(scaled) <= 1 + 1e-6).all()
    check_uniform_draws(scaled)


def test_gradients_are_finite_differences() -> None:
    env = Reacher(2)
    rng = np.random.default_rng(0)
    inputs: dict[str, Any] = {
        "angles": rng.uniform(-3, 3, 2),
        "velocities": rng.uniform(-1, 1, 2),
        "goal": np.array([0.5, -0.3]),
        "action": rng.uniform(-1, 1, 2),
        "torque_scale": np.array(1.5),
        "dt": np.array(0.3),
        "lengths": np.array([0.7, 1.2]),
    }

    def total(x: dict[str, Any]) -> jax.Array:
        state = ReacherState(angles=x["angles"], angle_vels=x["velocities"], goal_xy=x["goal"], time=jnp.int32(0))
        params = env.default_params.replace(torque_scale=x["torque_scale"], dt=x["dt"], link_lengths=x["lengths"])
        obs, _, reward, _, _ = env.step(jax.random.key(0), state, x["action"], params)
        return 3 * reward + obs @ jnp.arange(1.0, 9.0)

    def expected(x: dict[str, Any]) -> Any:
        angles, velocities, reward = original_step(x["angles"], x["velocities"], x["goal"], x["action"], x)
        return 3 * reward + original_observation(angles, velocities, x["goal"]) @ np.arange(1.0, 9.0)

    check_finite_differences(total, expected, inputs)


def test_no_joint_is_an_error() -> None:
    with pytest.raises(ValueError, match="num_joints must be at least 1, got 0"):
        Reacher(num_joints=0)
