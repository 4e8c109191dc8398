"""How far float32 and float64 drift apart over whole episodes of the same actions."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import gymnasium
import jax
import numpy as np
import pytest
from classic_lockstep import ACROBOT, CARTPOLE, MOUNTAIN_CAR, MOUNTAIN_CAR_CONTINUOUS, PENDULUM, Task

Policy = Callable[[np.ndarray, np.random.Generator], Any]
EPISODES = 16
LONGEST = 999


def discrete(number: int) -> Policy:
    return lambda state, rng: rng.integers(number)


def uniform(bound: float) -> Policy:
    return lambda state, rng: np.float32(rng.uniform(-bound, bound))


def balance(state: Any, rng: np.random.Generator | None = None) -> Any:
    return 0.1 * state[0] + 0.4 * state[1] + 10 * state[2] + 2 * state[3] > 0


def swing_up(state: np.ndarray, rng: np.random.Generator) -> Any:
    energy = state[1] ** 2 / 6 + 5 * (np.cos(state[0]) - 1)
    return np.float32(2 * np.sign(-energy * state[1]))


def pump(state: np.ndarray, rng: np.random.Generator) -> Any:
    return 2 if state[3] > 0 else 0


def rock(state: np.ndarray, rng: np.random.Generator) -> Any:
    return 2 if state[1] >= 0 else 0


def rock_hard(state: np.ndarray, rng: np.random.Generator) -> Any:
    return np.float32(1 if state[1] >= 0 else -1)


# Task, policy, steps, and how far apart the two may be by then: about ten times what was measured. An upright pole
# doubles any difference every 9 steps (CartPole) or 4 (Pendulum), and a fast Acrobot is chaotic, so these are
# compared only while a bound is meaningful; the others until the end.
DRIFTS = {
    "CartPole, random": (CARTPOLE, discrete(2), 500, 1e-5),
    "CartPole, balancing": (CARTPOLE, balance, 100, 1e-3),
    "Pendulum, random": (PENDULUM, uniform(2), 200, 1e-1),
    "Pendulum, swinging up": (PENDULUM, swing_up, 50, 1e-2),
    "Acrobot, random": (ACROBOT, discrete(3), 300, 2e-3),
    "Acrobot, pumping": (ACROBOT, pump, 70, 1e-3),
    "MountainCar, random": (MOUNTAIN_CAR, discrete(3), 200, 5e-6),
    "MountainCar, rocking": (MOUNTAIN_CAR, rock, 200, 1e-5),
    "MountainCarContinuous, random": (MOUNTAIN_CAR_CONTINUOUS, uniform(1), 999, 1e-4),
    "MountainCarContinuous, rocking": (MOUNTAIN_CAR_CONTINUOUS, rock_hard, 999, 1e-5),
}


@pytest.mark.parametrize(("task", "policy", "steps", "bound"), DRIFTS.values(), ids=DRIFTS)
def test_episodes_stay_together(task: Task, policy: Policy, steps: int, bound: float) -> None:
    env, params = task.make({})
    start = first_states(env)
    starts = enumerate(task.to_original(start)["state"])
    originals = [play(task, policy, state, steps, seed) for seed, state in starts]
    actions = np.stack([np.resize(original.action, LONGEST) for original in originals])
    ours = replay(task, env, params, start, actions)
    for number, original in enumerate(originals):
        mine = ours.row(number, len(original.action))
        assert task.distance(mine.state, original.state).max() <= bound
        np.testing.assert_array_equal(mine.terminated, original.terminated)
        np.testing.assert_array_equal(mine.truncated, original.truncated)
        # The cost of a pendulum grows by at most 2 pi times the angle and 1.6 times the velocity.
        np.testing.assert_allclose(mine.reward, original.reward, rtol=1e-6, atol=8 * bound)


@dataclasses.dataclass(frozen=True)
class Trace:
    """The steps of an episode, or of a batch of them: arrays (T, ...) or (episodes, T, ...)."""

    action: np.ndarray
    state: np.ndarray  # after each step
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray

    def row(self, number: int, length: int) -> Trace:
        return Trace(*(getattr(self, field.name)[number, :length] for field in dataclasses.fields(self)))


@functools.cache
def first_states(env: Any) -> Any:
    return jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(0), EPISODES))[1]


def play(task: Task, policy: Policy, state: np.ndarray, steps: int, seed: int) -> Trace:
    """Gymnasium's episode from `state`, for at most `steps` steps."""
    env: Any = gymnasium.make(task.id, disable_env_checker=True)
    env.reset(seed=0)
    env.unwrapped.state = state.astype(np.float32 if task is MOUNTAIN_CAR_CONTINUOUS else np.float64)
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(steps):
        action = policy(env.unwrapped.state, rng)
        action = np.array([action]) if np.asarray(action).dtype.kind == "f" else int(action)
        _, reward, terminated, truncated, _ = env.step(action)
        rows.append((np.ravel(action)[0], np.array(env.unwrapped.state), reward, terminated, truncated))
        if terminated or truncated:
            break
    return Trace(*(np.array(column) for column in zip(*rows, strict=True)))


def replay(task: Task, env: Any, params: Any, start: Any, actions: np.ndarray) -> Trace:
    """Our episodes under the given actions, from a batch of states, without auto-reset."""
    inputs = actions[..., None] if actions.dtype.kind == "f" else actions.astype(np.int32)
    states, *results = _replayer(env)(start, inputs, params)
    return Trace(actions, task.to_original(states)["state"], *map(np.asarray, results))


@functools.cache
def _replayer(env: Any) -> Callable[..., Any]:
    def replay_one(start: Any, actions: jax.Array, params: Any) -> Any:
        def step(state: Any, action: jax.Array) -> tuple[Any, Any]:
            _, state, reward, terminated, info = env.step_env(jax.random.key(0), state, action, params)
            return state, (state, reward, terminated, info["truncated"])

        return jax.lax.scan(step, start, actions)[1]

    return jax.jit(jax.vmap(replay_one, (0, 0, None)))
