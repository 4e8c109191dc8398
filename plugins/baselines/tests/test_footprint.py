"""Estimates of memory."""

from __future__ import annotations

import jax
import pytest
from envcore_baselines.footprint import training_bytes
from envcore_baselines.ppo import PPO, PPOConfig
from toy import Counter


@pytest.mark.slow
def test_the_bytes_of_an_agent_are_those_of_its_compiled_training() -> None:
    """Up to a factor: what XLA does with the arrays between the operations is not known beforehand."""
    for num_envs, rollout_steps in ((4, 8), (256, 64)):
        config = PPOConfig(num_envs=num_envs, rollout_steps=rollout_steps, epochs=1, minibatches=2, hidden=(4,))
        each, key = PPO(Counter(), Counter().default_params, config), jax.random.key(0)
        state = jax.eval_shape(each.init, key)
        found = jax.jit(each.update).lower(state).compile().memory_analysis()
        assert found
        measured = found.argument_size_in_bytes + found.output_size_in_bytes + found.temp_size_in_bytes
        assert 0.5 < training_bytes(each, key) / measured < 2


def test_a_learner_that_computes_nothing() -> None:
    class Idle:
        def init(self, key: jax.Array) -> jax.Array:
            return key

        def update(self, state: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
            return state, {}

    assert training_bytes(Idle(), jax.random.key(0)) == 2 * 8  # type: ignore[arg-type]  # twice a key
