"""SimpleBandit: its rules, one case per line, lockstep with the original, and our additions."""

from __future__ import annotations

from typing import Any

import bsuite_lockstep as lockstep
import jax
import numpy as np
import pytest
from bsuite_tasks import BANDIT
from envcore_bsuite.bandit import SimpleBandit
from rules import check_rule, rules

RECORDINGS = ("bandit.mapping_seed0", "bandit.mapping_seed19", "bandit.num_actions5")


@rules(
    ("an arm pays its reward, and the episode ends", {}, 0, None, {"total_regret": 0.75}, 0.25, True),
    ("the worst arm", {}, 1, None, {"total_regret": 1}, 0, True),
    ("the best arm has no regret", {}, 2, None, {}, 1, True),
    ("regret adds up", {"total_regret": 3.5}, 0, None, {"total_regret": 4.25}, 0.25, True),
    ("and keeps what rounding loses", {"total_regret": 2.0**25}, 1, None, {"excess": -1}, 0, True),
)
def test_rules(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    env, rewards = SimpleBandit(num_actions=3), np.array([0.25, 0.0, 1.0])
    check_rule(env, before, action, draws, after, reward, end, rewards=rewards)


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_recorded_step(name: str) -> None:
    lockstep.check_recorded(name, BANDIT)


def test_recorded_resets() -> None:
    lockstep.check_resets(RECORDINGS[0], BANDIT)


def at_random(key: jax.Array, state: Any, params: Any) -> jax.Array:
    return jax.random.randint(key, (), 0, params.rewards.size)


def test_game() -> None:
    """As long as an experiment: the regret loses no digits."""
    game = lockstep.check_game(lockstep.make("bandit", mapping_seed=7), BANDIT, at_random, 10_000)
    assert game.done.all()
    assert game.info["total_regret"][-1] > 4000
    assert set(game.action) == set(range(11))


@pytest.mark.parametrize("seed", range(20))
def test_rewards_are_bsuites(seed: int) -> None:
    rewards = SimpleBandit(seed).default_params.rewards
    np.testing.assert_array_equal(rewards, lockstep.seeded_tables()[f"bandit.mapping_seed{seed}"])
