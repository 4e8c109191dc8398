"""Recurrent PPO: its memory, what it learns from, what it refuses, and that it learns what only a memory can tell."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_baselines import algorithms
from envcore_baselines.errors import ConfigError
from envcore_baselines.ppo_rnn import RecurrentPPO, RecurrentPPOConfig
from learning import Whole, mean_returns, updated
from toy import Counter, Spring

KEY = jax.random.key(0)
SMALL = RecurrentPPOConfig(total_steps=64, num_envs=4, rollout_steps=8, epochs=2, minibatches=2, hidden=(8,), memory=5)


def learner(env: Any, params: Any = None, **settings: Any) -> RecurrentPPO:
    params = env.default_params if params is None else params
    return RecurrentPPO(env, params, RecurrentPPOConfig(**{**vars(SMALL), **settings}))


@pytest.mark.slow
def test_the_memory_holds_the_episode() -> None:
    """Acting step by step finds the memory and the outputs that going through the rollout finds."""
    env = Counter()
    params = env.default_params.replace(max_steps_in_episode=3)
    ppo = learner(env, params)
    state, _ = jax.jit(ppo.update)(jax.jit(ppo.init)(KEY))
    after, _, steps = updated(ppo, state)
    before = state.now.memory
    assert steps.start[1:].any()
    assert not steps.start[1:].all()
    np.testing.assert_array_equal(steps.start[1:], steps.done[:-1])
    outputs, values, memory = jax.jit(ppo._apply)(state.agent, before, steps.obs, steps.start)
    np.testing.assert_allclose(memory, after.now.memory, atol=1e-5)
    going_on = ~np.asarray(steps.done[:-1])
    np.testing.assert_allclose(steps.next_value[:-1][going_on], values[1:][going_on], atol=1e-5)
    act = jax.jit(lambda memory, obs: ppo.act(state.agent, memory, obs, KEY, greedy=True))
    for column in range(4):
        memory = before[column]
        for time in range(8):
            memory = ppo.start_memory() if steps.start[time, column] else memory
            action, memory = act(memory, steps.obs[time, column])
            assert action == outputs[time, column].argmax()
        np.testing.assert_allclose(memory, after.now.memory[column], atol=1e-5)


@pytest.mark.slow
def test_observations_are_normalized_by_what_was_seen() -> None:
    settings: dict[str, Any] = {"normalize_observations": True, "normalize_rewards": True}
    ppo = learner(Spring(), **settings)
    state, totals, steps = updated(ppo, jax.jit(ppo.init)(KEY))
    values = np.asarray(steps.obs).reshape(-1, 2)
    np.testing.assert_allclose(state.agent.statistics.mean, values.mean(0), rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(state.agent.statistics.var, values.var(0), rtol=1e-3)
    assert np.isfinite(float(totals["returns"]))


@pytest.mark.parametrize(
    ("env", "settings", "message"),
    [
        (Counter(), {"minibatches": 8}, "minibatches must divide num_envs = 4, got 8"),
        (Counter(), {"memory": 0}, "memory must be at least 1, got 0"),
        (Whole(), {}, "ppo_rnn needs actions of a Discrete or a float Box, Whole has Box"),
    ],
)
def test_what_does_not_fit(env: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learner(env, **settings)
    config = RecurrentPPOConfig(**{**vars(SMALL), **settings})
    with pytest.raises(ConfigError, match=message):
        algorithms.learner("ppo_rnn", env, env.default_params, config)


class Dark(Counter):
    """Shows nothing. Counting earns 1 in the third step, and costs 1 before it."""

    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        reward = jnp.where(state.time == 2, 1.0, -1.0) * action
        return state, reward, False, {}

    def observe(self, state: Any, params: Any) -> Any:
        return jnp.zeros(self.goal + 1)


@pytest.mark.slow
def test_what_only_memory_can_tell_is_learned() -> None:
    """Without a memory nothing is better than to wait, which earns 0."""
    env = Dark()
    params = env.default_params.replace(max_steps_in_episode=3)
    ppo = learner(env, params, total_steps=16_000, num_envs=16, rollout_steps=16, learning_rate=0.01)
    assert (mean_returns(ppo, 2)[:, -1] > 0.8).all()
