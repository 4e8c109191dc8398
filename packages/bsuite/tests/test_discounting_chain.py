"""DiscountingChain: its rules, one case per line, lockstep with the original, and our additions."""

from __future__ import annotations

from typing import Any

import bsuite_lockstep as lockstep
import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bsuite_tasks import DISCOUNTING_CHAIN
from envcore_bsuite.discounting_chain import DiscountingChain
from rules import check_rule, rules


# Chain 1 has the bonus.
@rules(
    ("the first action chooses the chain", {"context": -1}, 3, None, {"context": 3}, 0, False),
    ("later actions have no effect", {"context": 3, "time": 1}, 0, None, {}, 0, False),
    ("chain 0 pays after 1 step", {"context": -1}, 0, None, {"context": 0}, 1, False),
    ("chain 1 pays after 3 steps, a tenth more", {"context": 1, "time": 2}, 0, None, {}, 1.1, False),
    ("chain 2 pays after 10 steps", {"context": 2, "time": 9}, 0, None, {}, 1, False),
    ("chain 3 pays after 30 steps", {"context": 3, "time": 29}, 0, None, {}, 1, False),
    ("chain 4 pays after 100 steps, at the end", {"context": 4, "time": 99}, 0, None, {}, 1, True),
    ("not before", {"context": 4, "time": 98}, 0, None, {}, 0, False),
    ("a chain pays once", {"context": 1, "time": 3}, 0, None, {}, 0, False),
    ("and is followed to the end", {"context": 1, "time": 99}, 0, None, {}, 0, True),
)
def test_rules(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(DiscountingChain(mapping_seed=1), before, action, draws, after, reward, end)


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 7])
def test_every_recorded_step(seed: int) -> None:
    lockstep.check_recorded(f"discounting_chain.mapping_seed{seed}", DISCOUNTING_CHAIN)


def test_recorded_resets() -> None:
    lockstep.check_resets("discounting_chain.mapping_seed0", DISCOUNTING_CHAIN)


def at_random(key: jax.Array, state: Any, params: Any) -> jax.Array:
    return jax.random.randint(key, (), 0, 5)


@pytest.mark.parametrize("seed", [2, 4])
def test_game(seed: int) -> None:
    game = lockstep.check_game(
        lockstep.make("discounting_chain", mapping_seed=seed), DISCOUNTING_CHAIN, at_random, 3000
    )
    assert game.done.sum() == 30
    assert set(np.unique(game.state.context)) == set(range(-1, 5))
    assert game.reward.max() == np.float32(1.1)
    assert (game.reward > 0).sum() == 30


@pytest.mark.parametrize("seed", range(20))
def test_rewards_are_bsuites(seed: int) -> None:
    rewards = DiscountingChain(seed).default_params.rewards
    np.testing.assert_array_equal(rewards, lockstep.seeded_tables()[f"discounting_chain.mapping_seed{seed}"])


def test_the_time_limit_is_a_param() -> None:
    env, params = envcore.make("DiscountingChain-bsuite")
    params = params.replace(max_steps_in_episode=2)
    _, state = env.reset(jax.random.key(0), params)
    _, state, *_ = env.step_env(jax.random.key(0), state, 3, params)
    obs, _, _, terminated, info = env.step_env(jax.random.key(0), state, 0, params)
    assert terminated
    assert not info["truncated"]
    assert info["discount"] == 0
    np.testing.assert_array_equal(obs, jnp.array([[3.0, 1.0]]))
