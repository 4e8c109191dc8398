"""DeepSea: its rules, one case per line, lockstep with the original, and our additions."""

from __future__ import annotations

from typing import Any

import bsuite_lockstep as lockstep
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bsuite_tasks import DEEP_SEA
from envcore_bsuite.deep_sea import DeepSea, DeepSeaDraws
from rules import check_rule, rules

RECORDINGS = (
    *(f"deep_sea.size{setting}" for setting in ("5", "10", "10.cost1", "20", "50", "8.unmapped")),
    *(f"deep_sea_stochastic.size{size}" for size in (5, 10, 30)),
)


LEFT, RIGHT = range(2)
COST = 0.01 / 4


def at(row: int, column: int, **others: Any) -> dict[str, Any]:
    """The diver's cell in a sea of 4 rows and columns, and other fields."""
    return {"time": row, "column": column, **others}


@rules(
    ("right sinks to the right, at a cost", at(1, 1), RIGHT, None, {"column": 2}, -COST, False),
    ("left sinks to the left", at(2, 1), LEFT, None, {"column": 0}, 0, False),
    ("the wall stops the diver", at(2, 0), LEFT, None, {"column": 0}, 0, False),
    ("leaving the diagonal is bad", at(1, 1), LEFT, None, {"column": 0, "bad_episode": True}, 0, False),
    ("the treasure", at(3, 3), RIGHT, None, {"column": 3, "denoised_return": 1}, 1 - COST, True),
    ("treasures add up", at(3, 3, denoised_return=5), RIGHT, None, {"denoised_return": 6}, 1 - COST, True),
    ("no treasure elsewhere", at(3, 2), RIGHT, None, {"column": 3}, -COST, True),
    ("a bad episode is counted at the end", at(3, 1, bad_episode=True, total_bad_episodes=7), LEFT, None,
     {"column": 0, "total_bad_episodes": 8}, 0, True),
    ("also if the last step is bad", at(3, 3), LEFT, None,
     {"column": 2, "bad_episode": True, "total_bad_episodes": 1}, 0, True),
)  # fmt: skip
def test_rules(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(DeepSea(4, randomize_actions=False), before, action, draws, after, reward, end)


@rules(
    ("on the diagonal 1 is right", at(1, 1), 1, None, {"column": 2}, -COST, False),
    ("off the diagonal 0 is right", at(2, 1), 0, None, {"column": 2}, -COST, False),
    ("and 1 is left", at(2, 1), 1, None, {"column": 0}, 0, False),
)
def test_rules_of_a_mapping(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(DeepSea(4), before, action, draws, after, reward, end, action_mapping=np.eye(4, dtype=np.int32))


def chance(noise: float, wind: float) -> DeepSeaDraws:
    return DeepSeaDraws(noise, wind)  # pyright: ignore[reportArgumentType]


@rules(
    ("above 1/4 the wind lets the diver pass", at(1, 1), RIGHT, chance(9.0, 0.26), {"column": 2}, -COST, False),
    ("below it holds the diver back", at(1, 1), RIGHT, chance(9.0, 0.24), {}, -COST, False),
    ("and at 1/4", at(1, 1), RIGHT, chance(9.0, 0.25), {}, -COST, False),
    ("to the left there is no wind", at(2, 1), LEFT, chance(9.0, 0.0), {"column": 0}, 0, False),
    ("the bottom left is noisy", at(3, 0), LEFT, chance(1.5, 0.5), {}, 1.5, True),
    ("the bottom right is noisy", at(3, 3), RIGHT, chance(-2.5, 0.5), {"denoised_return": 1}, -1.5 - COST, True),
    ("between them there is no noise", at(3, 2), LEFT, chance(9.0, 0.5), {"column": 1}, 0, True),
    ("nor above the bottom", at(2, 0), LEFT, chance(9.0, 0.5), {}, 0, False),
)
def test_rules_of_wind_and_noise(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    env = DeepSea(4, deterministic=False, randomize_actions=False)
    check_rule(env, before, action, draws, after, reward, end)


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_recorded_step(name: str) -> None:
    lockstep.check_recorded(name, DEEP_SEA)


def test_recorded_resets() -> None:
    lockstep.check_resets("deep_sea_stochastic.size10", DEEP_SEA)


def mostly_right(key: jax.Array, state: Any, params: Any) -> jax.Array:
    right = jnp.asarray(params.action_mapping).at[state.row, state.column].get(mode="clip").astype(jnp.int32)
    return jnp.where(jax.random.bernoulli(key, 0.1), 1 - right, right)


@pytest.mark.parametrize(
    ("experiment", "size"), [("deep_sea", 6), ("deep_sea_stochastic", 6), ("deep_sea_stochastic", 1)]
)
def test_game(experiment: str, size: int) -> None:
    game = lockstep.check_game(lockstep.make(experiment, size=size, mapping_seed=42), DEEP_SEA, mostly_right, 3000)
    assert game.done.sum() == 3000 // size
    assert game.state.total_bad_episodes[-1] > 100
    assert game.state.denoised_return[-1] > 50


@pytest.mark.parametrize("size", range(10, 51, 2))
def test_mapping_is_bsuites(size: int) -> None:
    mapping = DeepSea(size, mapping_seed=42).default_params.action_mapping
    np.testing.assert_array_equal(mapping, lockstep.seeded_tables()[f"deep_sea.mapping_seed42.size{size}"])


def test_without_a_mapping_one_is_right() -> None:
    mapping = DeepSea(3, randomize_actions=False).default_params.action_mapping
    np.testing.assert_array_equal(mapping, np.ones((3, 3)))


def test_draws_are_normal_and_uniform() -> None:
    env, keys = DeepSea(deterministic=False), jax.random.split(jax.random.key(0), 4000)
    draws: Any = jax.vmap(env.draw, (0, None))(keys, env.default_params)
    noise, wind = np.asarray(draws.noise), np.asarray(draws.wind)
    assert abs(noise.mean()) < 4 / 4000**0.5
    assert abs(noise.std() - 1) < 4 / 8000**0.5
    assert 0 <= wind.min() < 0.01
    assert 0.99 < wind.max() < 1
    assert abs(wind.mean() - 0.5) < 4 / (12 * 4000) ** 0.5
    assert abs(np.corrcoef(noise, wind)[0, 1]) < 4 / 4000**0.5
