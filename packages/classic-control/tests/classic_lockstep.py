"""Compares envcore's classic control environments with gymnasium's: the same states and actions, and their results.

`our_steps` and `gymnasium_steps` take the same `Inputs` and return `Outputs`, which `check_agreement` compares.
Gymnasium computes in float64 (MountainCarContinuous in float32 too, after its first step), envcore in float32, so
numbers may differ by rounding: by at most `ROUNDINGS` times the spacing of float32 numbers at the size of the summands.
A `Task` gives that size for each number. All of Gymnasium's fields are in one array, its `state`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import envcore
import gymnasium
import jax
import jax.numpy as jnp
import lockstep
import numpy as np
from envcore.engine import arguments
from lockstep import ROUNDINGS, SPACING, ForcedDraws

ROWS = 10_000


class Inputs(NamedTuple):
    """N steps to take.

    Attributes:
      state: the state before each step, float64 (N, fields); for MountainCarContinuous float32 numbers, as in practice.
      elapsed: number of steps taken in the episode before, int (N,).
      action: int (N,) or float32 (N,).
      noise: the draws of Acrobot's torque noise, float64 (N,).
      has_fallen: whether CartPole's episode has already terminated, bool (N,).
    """

    state: np.ndarray
    elapsed: np.ndarray
    action: np.ndarray
    noise: np.ndarray
    has_fallen: np.ndarray


class Outputs(NamedTuple):
    """The results of N steps; float64, except for the flags.

    Attributes:
      state: (N, fields).
      obs: (N, numbers in an observation).
      reward: (N,).
      terminated: bool (N,).
      truncated: bool (N,).
    """

    state: np.ndarray
    obs: np.ndarray
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray


@dataclasses.dataclass(frozen=True)
class Task(lockstep.Task):
    """How an environment of ours corresponds to gymnasium's with the same id.

    Attributes:
      id: the environment's id.
      obs_fields: for each number of an observation, the field that it is computed from.
      size: (before, after) -> the size of the summands of each field, (N, fields).
      thresholds: (after, size, params) -> distances (N,) to thresholds at which a flag changes or the car stops, each
        divided by the size of the compared numbers.
      reward_size: (inputs, outputs) -> the size of the summands of the reward, (N,); 0 if it is exact.
      angles: fields that are angles wrapped to [-pi, pi], which are compared on the circle.
    """

    id: str
    obs_fields: tuple[int, ...]
    size: Callable[[np.ndarray, np.ndarray], np.ndarray]
    thresholds: Callable[[np.ndarray, np.ndarray, Any], list[np.ndarray]]
    reward_size: Callable[[Inputs, Outputs], np.ndarray] = lambda inputs, outputs: np.zeros(len(inputs.state))
    angles: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.id

    def make(self, options: dict[str, Any]) -> tuple[Any, Any]:
        """Our environment and params, with gymnasium's options as constructor arguments or params."""
        static = {field.name for field in dataclasses.fields(envcore.make(self.id)[0])}
        env, params = envcore.make(self.id, **{k: v for k, v in options.items() if k in static})
        return env, params.replace(**{k: v for k, v in options.items() if k not in static})

    def distance(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """The distances between the fields of two states, (N, fields); the shorter way around for wrapped angles."""
        apart = np.abs(first - second)
        apart[:, self.angles] = np.minimum(apart[:, self.angles], np.abs(2 * np.pi - apart[:, self.angles]))
        return apart


def our_steps(task: Task, env: Any, params: Any, inputs: Inputs) -> Outputs:
    """Takes the steps with our environment, all at once, in float32.

    The rows are repeated up to `ROWS`, so that all callers share one compilation.
    """
    size, inputs = len(inputs.state), Inputs(*(np.resize(x, (ROWS, *x.shape[1:])) for x in inputs))
    state = task.from_original({"state": inputs.state}).replace(time=jnp.asarray(inputs.elapsed, jnp.int32))
    if task is CARTPOLE:
        state = state.replace(has_fallen=jnp.asarray(inputs.has_fallen))
    action = inputs.action[:, None] if inputs.action.dtype.kind == "f" else inputs.action.astype(np.int32)
    draws = jnp.asarray(inputs.noise, jnp.float32) if task is ACROBOT else None
    state, results = lockstep.our_steps(env, params, state, jnp.asarray(action), draws)
    assert (np.asarray(state.time) == inputs.elapsed + 1).all()
    if task is CARTPOLE:
        np.testing.assert_array_equal(state.has_fallen, inputs.has_fallen | results["terminated"])
    outputs = Outputs(**task.to_original(state), **results)
    return Outputs(*(np.asarray(x, bool if x.dtype == bool else np.float64)[:size] for x in outputs))


def gymnasium_steps(
    task: Task, inputs: Inputs, kwargs: dict[str, Any] | None = None, attributes: dict[str, Any] | None = None
) -> Outputs:
    """Takes the steps with gymnasium's environment, constructed with `kwargs`, with `attributes` set afterwards."""
    env: Any = gymnasium.make(task.id, disable_env_checker=True, **(kwargs or {}))
    env.reset(seed=0)
    inner = env.unwrapped
    for name, value in (attributes or {}).items():
        setattr(inner, name, value)
    forced, states, rest = ForcedDraws(), [], []
    for state, elapsed, action, noise, has_fallen in zip(*inputs, strict=True):
        inner.state = state.astype(np.float32) if task is MOUNTAIN_CAR_CONTINUOUS else state
        inner.np_random = forced
        if task is CARTPOLE:
            inner.steps_beyond_terminated = 1 if has_fallen else None  # any number above 0 avoids a warning
        env._elapsed_steps = int(elapsed)
        with forced.giving([("uniform", noise)] if getattr(inner, "torque_noise_max", 0) else []):
            obs, *flags, _ = env.step(np.array([action]) if inputs.action.dtype.kind == "f" else int(action))
        states.append(np.array(inner.state, np.float64))
        rest.append((np.array(obs, np.float64), *flags))
    obs, reward, terminated, truncated = (np.array(column) for column in zip(*rest, strict=True))
    return Outputs(np.array(states), obs, reward, terminated, truncated)


def check_agreement(task: Task, inputs: Inputs, expected: Outputs, actual: Outputs, params: Any) -> int:
    """Compares our outputs with the original's.

    Returns:
      The number of rows that differ because the original is within rounding of a threshold.

    Raises:
      AssertionError: they differ by more than rounding, in a row that is not at a threshold.
    """
    size = task.size(inputs.state, expected.state)
    distance = np.min([np.full(len(size), np.inf), *task.thresholds(expected.state, size, params)], axis=0)
    sizes = {
        "state": size,
        "obs": size[:, task.obs_fields],
        "reward": task.reward_size(inputs, expected),
        "undecided": distance <= ROUNDINGS * SPACING,
    }
    assert (np.abs(actual.state[:, task.angles]) <= np.float32(np.pi)).all()
    np.testing.assert_array_equal(actual.truncated, expected.truncated)  # in undecided rows, too
    ours = actual._replace(state=expected.state + task.distance(actual.state, expected.state))
    return lockstep.check_agreement(ours._asdict(), expected._asdict(), sizes, inputs._asdict())


def _cartpole_size(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    # The last four are the change of each field by one push, within a factor of two.
    return np.maximum(np.maximum(np.abs(before), np.abs(after)), [0.1, 0.2, 0.1, 0.3])


def _pendulum_size(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    # Rounding the angle rounds its sine, and so the acceleration, which may be as large as the speed limit.
    angle = np.maximum(np.maximum(np.abs(before), np.abs(after))[:, 0], 1)
    return np.column_stack([angle, angle + 8])


def _acrobot_size(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    # Accelerations grow with the square of the speed, and each of the four Runge-Kutta stages passes on the rounding
    # of the one before, times the angle turned in a step: 0.2 s at up to one and a half times the speed at its ends.
    turned = 0.3 * np.maximum(np.abs(before)[:, 2:].sum(axis=1), np.abs(after)[:, 2:].sum(axis=1))
    angle, velocity = (1 + turned) ** 2, (1 + turned) ** 4
    return np.column_stack([angle, angle, velocity, velocity])


def _car_size(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    # The last two are, within a factor of three, the maximum speed and what push and gravity add to it.
    return np.maximum(np.maximum(np.abs(before), np.abs(after)), [0.1, 0.01])


def _cartpole_thresholds(after: np.ndarray, size: np.ndarray, params: Any) -> list[np.ndarray]:
    limits = [params.x_threshold, params.theta_threshold_radians]
    return list((np.abs(np.abs(after[:, [0, 2]]) - limits) / size[:, [0, 2]]).T)


def _acrobot_thresholds(after: np.ndarray, size: np.ndarray, params: Any) -> list[np.ndarray]:
    height = -np.cos(after[:, 0]) - np.cos(after[:, 0] + after[:, 1])
    return [np.abs(height - 1) / (2 * size[:, 0] + size[:, 1])]


def _car_thresholds(after: np.ndarray, size: np.ndarray, params: Any) -> list[np.ndarray]:
    (position, velocity), (position_size, velocity_size) = after.T, size.T
    return [
        np.abs(position - params.min_position) / position_size,
        np.abs(position - params.goal_position) / position_size,
        np.abs(velocity - params.goal_velocity) / velocity_size,
    ]


def _task(env_id: str, fields: tuple[str, ...], **rest: Any) -> Task:
    """The task of states that hold the numbers of Gymnasium's state in these fields, in its order."""

    def from_original(original: Mapping[str, np.ndarray]) -> Any:
        given = {name: jnp.asarray(original["state"][:, i], jnp.float32) for i, name in enumerate(fields)}
        struct = arguments.state_struct(envcore.make(env_id)[0])
        zeros = jax.tree.map(lambda x: jnp.zeros((len(original["state"]), *x.shape), x.dtype), struct)
        return zeros.replace(**given)

    def to_original(state: Any) -> dict[str, np.ndarray]:
        return {"state": np.stack([np.asarray(getattr(state, name), np.float64) for name in fields], axis=-1)}

    return Task(from_original, to_original, env_id, **rest)


CARTPOLE = _task(
    "CartPole-v1",
    ("x", "x_dot", "theta", "theta_dot"),
    obs_fields=(0, 1, 2, 3),
    size=_cartpole_size,
    thresholds=_cartpole_thresholds,
)
PENDULUM = _task(
    "Pendulum-v1",
    ("theta", "theta_dot"),
    obs_fields=(0, 0, 1),
    size=_pendulum_size,
    thresholds=lambda after, size, params: [],
    # Rounding the angle rounds its square by at most 2 pi times as much.
    reward_size=lambda inputs, outputs: np.abs(outputs.reward) + 2 * np.pi * np.abs(inputs.state[:, 0]),
)
ACROBOT = _task(
    "Acrobot-v1",
    ("joint_angle1", "joint_angle2", "velocity_1", "velocity_2"),
    obs_fields=(0, 0, 1, 1, 2, 3),
    size=_acrobot_size,
    thresholds=_acrobot_thresholds,
    angles=(0, 1),
)
_CAR: dict[str, Any] = {
    "fields": ("position", "velocity"),
    "obs_fields": (0, 1),
    "size": _car_size,
    "thresholds": _car_thresholds,
}
MOUNTAIN_CAR = _task("MountainCar-v0", **_CAR)
MOUNTAIN_CAR_CONTINUOUS = _task(
    "MountainCarContinuous-v0",
    **_CAR,
    # XLA flushes numbers below `tiny` to 0.
    reward_size=lambda inputs, outputs: (
        100.0 * outputs.terminated
        + 0.1 * np.maximum(inputs.action.astype(np.float64) ** 2, np.finfo(np.float32).tiny / SPACING)
    ),
)
TASKS = (CARTPOLE, PENDULUM, ACROBOT, MOUNTAIN_CAR, MOUNTAIN_CAR_CONTINUOUS)
