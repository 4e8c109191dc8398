"""Agents whose rollouts are played by envcore-native's kernel."""

from __future__ import annotations

from typing import Any

import envcore
import envcore_native
import jax
import numpy as np
import pytest
from envcore.rollout import run_rollout
from envcore_baselines.ppo import PPO
from envcore_baselines.pqn import PQN
from envcore_testing.numerics import numerics

KEY = jax.random.key(0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "env_id"), [(PPO, "CartPole-v1"), (PPO, "Pendulum-v1"), (PQN, "DiscountingChain-bsuite")]
)
def test_an_update_is_the_same(algorithm: Any, env_id: str) -> None:
    """Two agents side by side learn the same from the same episodes, up to the rounding of floats."""
    env, params = envcore.make(env_id)
    config = algorithm.Config(total_steps=512, num_envs=32, rollout_steps=16, hidden=(32, 32))

    def updated(rollout: Any) -> Any:
        learner, keys = algorithm(env, params, config, rollout=rollout), jax.random.split(KEY, 2)
        return jax.jit(jax.vmap(lambda key: learner.update(learner.init(key))))(keys)

    with numerics():  # optax relies on it
        state, totals = updated(run_rollout)
        fused_state, fused_totals = updated(envcore_native.run_rollout)
    assert totals["episodes"].tolist() == fused_totals["episodes"].tolist()
    np.testing.assert_allclose(fused_totals["returns"], totals["returns"], rtol=1e-5)
    for fused, expected in zip(*map(jax.tree.leaves, (fused_state.agent, state.agent)), strict=True):
        np.testing.assert_allclose(fused, expected, rtol=1e-3, atol=1e-4)
