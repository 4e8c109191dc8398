"""RewardNoise and RewardScale: their rules, one case per line, lockstep with the original, and our additions."""

from __future__ import annotations

from typing import Any

import bsuite_lockstep as lockstep
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bsuite_physics import CARTPOLE, MOUNTAIN_CAR
from bsuite_tasks import BANDIT, CATCH, with_noise
from envcore import random
from envcore.wrappers import Batched
from envcore_bsuite.bandit import SimpleBandit
from envcore_bsuite.catch import Catch
from envcore_bsuite.mountain_car import MountainCar
from envcore_bsuite.wrappers import RewardNoise, RewardNoiseDraws, RewardScale
from envcore_testing import check_env
from rules import check_rule, rules

KEY = jax.random.key(5)
INSIDE = {"bandit": BANDIT, "cartpole": CARTPOLE, "catch": CATCH, "mountain_car": MOUNTAIN_CAR}
TASKS = {
    **{f"{name}_noise": with_noise(task, 0.3) for name, task in INSIDE.items()},
    **{f"{name}_scale": task for name, task in INSIDE.items()},
}


HIGH = {"ball_x": 2, "ball_y": 4, "paddle_x": 2, "paddle_y": 9}  # Catch's ball over its paddle
LANDS = {**HIGH, "ball_y": 8}
CAUGHT, LOST = {"ball_y": 9}, {"ball_y": 9, "paddle_x": 1, "total_regret": 2}
LEFT, STAY = range(2)


def noise(number: float) -> RewardNoiseDraws:
    return RewardNoiseDraws(None, number)  # pyright: ignore[reportArgumentType]


@rules(
    ("noise is scaled and added", HIGH, STAY, noise(3.0), {"ball_y": 5}, 1.5, False),
    ("to a reward of 1", LANDS, STAY, noise(-4.0), CAUGHT, -1, True),
    ("and of -1, but regret has none", LANDS, LEFT, noise(-4.0), LOST, -3, True),
    ("no noise", LANDS, LEFT, noise(0.0), LOST, -1, True),
)
def test_rules_of_noise(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(RewardNoise(Catch(), 0.5), before, action, draws, after, reward, end)


@rules(
    ("0 remains 0", HIGH, STAY, None, {"ball_y": 5}, 0, False),
    ("a reward of 1 is scaled", LANDS, STAY, None, CAUGHT, 30, True),
    ("and of -1, but regret is not", LANDS, LEFT, None, LOST, -30, True),
)
def test_rules_of_scale(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(RewardScale(Catch(), 30.0), before, action, draws, after, reward, end)


@pytest.mark.parametrize("name", TASKS)
def test_every_recorded_step(name: str) -> None:
    assert lockstep.check_recorded(name, TASKS[name]) == 0


@pytest.mark.parametrize("name", ["catch_noise", "catch_scale"])
def test_recorded_resets(name: str) -> None:
    lockstep.check_resets(name, TASKS[name])


def at_random(key: jax.Array, state: Any, params: Any) -> jax.Array:
    return jax.random.randint(key, (), 0, 3)


@pytest.mark.parametrize(
    ("experiment", "settings", "task"),
    [
        ("catch_noise", {"noise_scale": 3.0, "seed": None}, with_noise(CATCH, 3.0)),
        ("catch_scale", {"reward_scale": 0.03, "seed": None}, CATCH),
        ("bandit_noise", {"noise_scale": 0.1, "seed": None, "mapping_seed": 3}, with_noise(BANDIT, 0.1)),
    ],
)
def test_game(experiment: str, settings: dict[str, Any], task: lockstep.Task) -> None:
    game = lockstep.check_game(lockstep.make(experiment, **settings), task, at_random, 2000)
    assert game.info["total_regret"][-1] > 100
    assert (np.diff(game.info["total_regret"]) >= 0).all()


def step(env: Any, params: Any = None, key: jax.Array = KEY) -> tuple[Any, ...]:
    """One step after a reset."""
    _, state = env.reset(KEY, params)
    return env.step(key, state, 1, params)


def rewards(env: Any, num: int = 4000) -> np.ndarray:
    """Rewards of a first step with many keys."""
    return np.asarray(jax.vmap(lambda key: step(env, key=key)[2])(random.split(KEY, num)))


def check_normal(noise: np.ndarray, scale: float) -> None:
    assert abs(noise.mean()) < 4 * scale / noise.size**0.5
    assert abs(noise.std() / scale - 1) < 4 / (2 * noise.size) ** 0.5
    assert 0.66 < (abs(noise) < scale).mean() < 0.71


def test_noise_is_normal() -> None:
    check_normal(rewards(RewardNoise(MountainCar(), 10.0)) + 1, 10.0)


def test_noise_in_and_around_a_batch() -> None:
    actions = jnp.ones(4000, jnp.int32)
    for env in (Batched(RewardNoise(MountainCar(), 2.0), 4000), RewardNoise(Batched(MountainCar(), 4000), 2.0)):
        _, state = env.reset(KEY)
        _, _, reward, _, info = env.step(KEY, state, actions)
        assert reward.shape == (4000,)
        check_normal(np.asarray(reward) + 1, 2.0)
        np.testing.assert_array_equal(info["raw_return"], -jnp.ones(4000))


@pytest.mark.slow
@pytest.mark.parametrize("env", [RewardNoise(Catch(rows=4), 0.5), RewardScale(SimpleBandit(), 30.0)])
def test_conforms(env: Any) -> None:
    check_env(env)
