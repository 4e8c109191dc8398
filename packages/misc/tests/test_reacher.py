"""Reacher: its rules, one case per line, its observations and draws."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_misc.reacher import Reacher, ReacherStart
from lockstep import our_steps
from picture_checks import state_of
from rules import check_rule, rules
from uniform_draws import check_uniform_draws

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


def fields(state: Any) -> list[Any]:
    return [np.asarray(x, np.float64) for x in (state.angles, state.angle_vels, state.goal_xy)]


def test_what_an_observation_shows() -> None:
    state = state_of(Reacher(), angles=(0, UP), angle_vels=(3, 4), goal_xy=(5, 6))
    obs = Reacher().observe(state, Reacher().default_params)
    np.testing.assert_allclose(obs, [1, 0, 0, 1, 3, 4, 5, 6], atol=1e-6)


def test_random_steps_follow_the_formulas() -> None:
    env, rng = Reacher(3), np.random.default_rng(0)
    angles, speeds, actions, places = rng.uniform(-2, 2, (4, 200, 3)).astype(np.float32)
    start = state_of(env).replace(angles=angles, angle_vels=speeds, goal_xy=places[:, :2], time=np.zeros(200, np.int32))
    _, found = our_steps(env, env.default_params, start, actions, None)
    speeds = speeds + 0.05 * actions
    angles = angles + 0.05 * speeds
    end = np.stack([np.cos(angles).sum(-1), np.sin(angles).sum(-1)], -1)
    np.testing.assert_allclose(found["reward"], np.exp(-((end - places[:, :2]) ** 2).sum(-1)), atol=1e-5)
    np.testing.assert_allclose(found["obs"][:, 6:9], speeds, atol=1e-5)


def test_starts_lie_between_the_bounds_of_the_params() -> None:
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


def test_no_joint_is_an_error() -> None:
    with pytest.raises(ValueError, match="num_joints must be a positive integer, got 0"):
        Reacher(num_joints=0)
