"""Our environments and gymnasium's, run side by side from the same states."""

from __future__ import annotations

import dataclasses
from typing import Any

import classic_lockstep as lockstep
import gymnasium
import numpy as np
import pytest
from classic_lockstep import ACROBOT, CARTPOLE, MOUNTAIN_CAR, MOUNTAIN_CAR_CONTINUOUS, PENDULUM, Inputs, Task

STEPS = 10_000
PI = np.pi
LEAN = 12 * 2 * PI / 360  # CartPole's limit
# The states to start from: for each field a range to draw from, and values at its edges.
RANGES = {
    CARTPOLE: [(-2.6, 2.6), (-5, 5), (-0.25, 0.25), (-5, 5)],
    PENDULUM: [(-20, 20), (-8, 8)],
    ACROBOT: [(-PI, PI), (-PI, PI), (-4 * PI, 4 * PI), (-9 * PI, 9 * PI)],
    MOUNTAIN_CAR: [(-1.2, 0.6), (-0.07, 0.07)],
    MOUNTAIN_CAR_CONTINUOUS: [(-1.2, 0.6), (-0.07, 0.07)],
}
EDGES = {
    CARTPOLE: [[-2.4, 0, 2.4], [-3, 0, 3], [-LEAN, 0, LEAN, PI], [-3, 0, 3]],
    PENDULUM: [[-3 * PI, -PI, -PI / 2, 0, PI / 2, PI, 3 * PI], [-8, 0, 8]],
    ACROBOT: [[-PI, 0, PI], [-PI, 0, PI], [-4 * PI, 0, 4 * PI], [-9 * PI, 0, 9 * PI]],
    MOUNTAIN_CAR: [[-1.2, -1.15, 0.45, 0.5, 0.55, 0.6], [-0.07, 0, 0.07]],
    MOUNTAIN_CAR_CONTINUOUS: [[-1.2, -1.15, 0.4, 0.45, 0.5, 0.6], [-0.07, 0, 0.07]],
}
# The original's numbers by its names, each with a valid value other than the default.
NUMBERS: dict[Task, dict[str, Any]] = {
    CARTPOLE: {
        "gravity": 5.0,
        "masscart": 2.0,
        "masspole": 0.3,
        "length": 1.0,
        "force_mag": 5.0,
        "tau": 0.05,
        "theta_threshold_radians": 0.1,
        "x_threshold": 1.0,
    },
    PENDULUM: {"max_speed": 4.0, "max_torque": 1.0, "dt": 0.1, "g": 5.0, "m": 2.0, "l": 0.5},
    ACROBOT: {
        "AVAIL_TORQUE": [-2.0, 0.5, 3.0],
        "dt": 0.1,
        "LINK_LENGTH_1": 1.5,
        "LINK_MASS_1": 2.0,
        "LINK_MASS_2": 0.5,
        "LINK_COM_POS_1": 0.7,
        "LINK_COM_POS_2": 0.3,
        "LINK_MOI": 2.0,
        "MAX_VEL_1": 2.0,
        "MAX_VEL_2": 3.0,
    },
    MOUNTAIN_CAR: {
        "min_position": -1.0,
        "max_position": 0.55,
        "max_speed": 0.04,
        "goal_position": 0.25,
        "goal_velocity": 0.03,
        "force": 0.002,
        "gravity": 0.002,
    },
    MOUNTAIN_CAR_CONTINUOUS: {
        "min_action": -0.5,
        "max_action": 0.5,
        "min_position": -1.0,
        "max_position": 0.55,
        "max_speed": 0.04,
        "goal_position": 0.25,
        "goal_velocity": 0.03,
        "power": 0.002,
    },
}
# The bound of a Box action; a Discrete one has this many values.
ACTIONS: dict[Task, int | float] = {
    CARTPOLE: 2,
    PENDULUM: 2.0,
    ACROBOT: 3,
    MOUNTAIN_CAR: 3,
    MOUNTAIN_CAR_CONTINUOUS: 1.0,
}


@dataclasses.dataclass(frozen=True)
class Variant:
    """An environment with options: arguments of gymnasium's constructor, or attributes set after it."""

    task: Task
    kwargs: dict[str, Any] = dataclasses.field(default_factory=dict)
    attributes: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def options(self) -> dict[str, Any]:
        return {**self.kwargs, **self.attributes}

    def __str__(self) -> str:
        return " ".join([self.task.id, *(f"{name}={value}" for name, value in self.options.items())])


VARIANTS = [
    Variant(CARTPOLE),
    Variant(CARTPOLE, kwargs={"sutton_barto_reward": True}),
    Variant(CARTPOLE, attributes={"kinematics_integrator": "semi-implicit euler"}),
    Variant(PENDULUM),
    Variant(PENDULUM, kwargs={"g": 9.81}),
    Variant(ACROBOT),
    Variant(ACROBOT, attributes={"book_or_nips": "nips"}),
    Variant(ACROBOT, attributes={"torque_noise_max": 0.5}),
    Variant(MOUNTAIN_CAR),
    Variant(MOUNTAIN_CAR, kwargs={"goal_velocity": 0.04}),
    Variant(MOUNTAIN_CAR_CONTINUOUS),
    Variant(MOUNTAIN_CAR_CONTINUOUS, kwargs={"goal_velocity": 0.02}),
]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_ten_thousand_transitions_agree(variant: Variant) -> None:
    task = variant.task
    inputs = draw_inputs(task, STEPS, variant.options.get("torque_noise_max", 0.0))
    env, params = task.make(variant.options)
    expected = lockstep.gymnasium_steps(task, inputs, variant.kwargs, variant.attributes)
    actual = lockstep.our_steps(task, env, params, inputs)
    undecided = lockstep.check_agreement(task, inputs, expected, actual, params)
    assert undecided <= 3
    assert 0.01 < expected.truncated.mean() < 0.99
    assert task is PENDULUM or 0.01 < expected.terminated.mean() < 0.99
    assert task is PENDULUM or (expected.terminated & expected.truncated).sum() > 50
    for at_edge in edges_met(task, expected.state, inputs):
        assert at_edge.sum() > 50


@pytest.mark.parametrize(("task", "name"), [(task, name) for task in NUMBERS for name in NUMBERS[task]], ids=str)
def test_params_change_the_dynamics_as_in_gymnasium(task: Task, name: str) -> None:
    ours = "available_torque" if name == "AVAIL_TORQUE" else name.lower()
    value = NUMBERS[task][name]
    attributes = {name: value}
    if task is CARTPOLE:  # what gymnasium computes when the environment is made
        cart, pole = attributes.get("masscart", 1.0), attributes.get("masspole", 0.1)
        attributes |= {"total_mass": cart + pole, "polemass_length": pole * attributes.get("length", 0.5)}
    inputs = draw_inputs(task, 300)
    expected = lockstep.gymnasium_steps(task, inputs, attributes=attributes)
    env, params = task.make({})
    before = lockstep.our_steps(task, env, params, inputs)
    params = params.replace(**{ours: np.asarray(value, np.float32)})
    after = lockstep.our_steps(task, env, params, inputs)
    undecided = lockstep.check_agreement(task, inputs, expected, after, params)
    assert undecided <= 1
    assert any((x != y).any() for x, y in zip(before, after, strict=True))


@pytest.mark.parametrize("task", lockstep.TASKS, ids=str)
def test_default_params_are_gymnasiums(task: Task) -> None:
    original = gymnasium.make(task.id).unwrapped
    _, params = task.make({})
    for name in NUMBERS[task]:
        ours = "available_torque" if name == "AVAIL_TORQUE" else name.lower()
        np.testing.assert_allclose(getattr(params, ours), getattr(original, name), rtol=1e-7)


@pytest.mark.parametrize("task", lockstep.TASKS, ids=str)
def test_spaces_and_limits_are_gymnasiums(task: Task) -> None:
    original = gymnasium.make(task.id)
    env, params = task.make({})
    spaces = [(env.observation_space(params), original.observation_space)]
    spaces.append((env.action_space(params), original.action_space))
    for mine, other in spaces:
        if isinstance(other, gymnasium.spaces.Discrete):
            assert (mine.n, other.start) == (other.n, 0)
        else:
            assert isinstance(other, gymnasium.spaces.Box)
            assert (mine.shape, mine.dtype) == (other.shape, other.dtype)
            np.testing.assert_array_equal(mine.low, other.low)
            np.testing.assert_array_equal(mine.high, other.high)
    spec = gymnasium.spec(task.id)
    assert params.max_steps_in_episode == spec.max_episode_steps


def draw_inputs(task: Task, steps: int, noise_max: float = 0.0) -> Inputs:
    """Random states, half of their fields at an edge, with all kinds of actions, near and beyond the time limit."""
    rng = np.random.default_rng(0)
    drawn = np.column_stack([rng.uniform(low, high, steps) for low, high in RANGES[task]])
    edges = np.column_stack([rng.choice(values, steps) for values in EDGES[task]])
    beside = edges + rng.choice([-1e-3, -1e-5, 1e-5, 1e-3], edges.shape)
    kind = rng.choice(3, edges.shape, p=[0.5, 0.25, 0.25])
    state = np.choose(kind, [drawn, edges, beside])
    if task in (MOUNTAIN_CAR, MOUNTAIN_CAR_CONTINUOUS, ACROBOT):  # their states never leave the ranges
        state = np.clip(state, *np.array(RANGES[task]).T)
    limit = gymnasium.spec(task.id).max_episode_steps
    assert limit is not None
    elapsed = rng.choice([0, 1, limit // 2, limit - 2, limit - 1, limit, limit + 5], steps)
    noise = np.where(rng.random(steps) < 0.1, noise_max, rng.uniform(-noise_max, noise_max, steps))
    return Inputs(state, elapsed, draw_actions(task, steps, rng), noise, has_fallen=rng.random(steps) < 0.5)


def draw_actions(task: Task, steps: int, rng: np.random.Generator) -> np.ndarray:
    bound = ACTIONS[task]
    if isinstance(bound, int):
        return rng.integers(bound, size=steps)
    edges = rng.choice(np.array([-100, -bound, 0, bound, 100], np.float32), steps)
    beside = np.nextafter(edges, rng.choice(np.array([-np.inf, np.inf], np.float32), steps))
    drawn = rng.uniform(-2 * bound, 2 * bound, steps).astype(np.float32)
    return np.choose(rng.choice(3, steps, p=[0.6, 0.2, 0.2]), [drawn, edges, beside])


def edges_met(task: Task, after: np.ndarray, inputs: Inputs) -> list[np.ndarray]:
    """Rows in which the original clipped, wrapped or hit something; each must happen often."""
    first, *_, last = after.T
    if task is CARTPOLE:
        return [after[:, 0] > 2.4, after[:, 0] < -2.4, after[:, 2] > LEAN, after[:, 2] < -LEAN]
    if task is PENDULUM:
        return [last == 8, last == -8, np.abs(inputs.action) > 2, np.abs(inputs.state[:, 0]) == PI]
    if task is ACROBOT:
        jump = after[:, :2] - inputs.state[:, :2]
        speed = [after[:, 2] == 4 * PI, after[:, 2] == -4 * PI, last == 9 * PI, last == -9 * PI]
        return [*speed, *(jump > PI).T, *(jump < -PI).T]
    goal = 0.5 if task is MOUNTAIN_CAR else 0.45
    at_wall = np.isclose(first, -1.2) & (last == 0)
    return [at_wall, np.isclose(first, 0.6), np.isclose(last, 0.07), np.isclose(last, -0.07), first >= goal]
