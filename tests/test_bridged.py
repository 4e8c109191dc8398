"""What is brought in from other libraries goes out through every adapter, and agents learn in it."""

from __future__ import annotations

from typing import Any

import envcore
import gymnasium
import jax
import numpy as np
import pytest
from envcore.rollout import run_rollout, start_rollout
from envcore.wrappers import Batched, LogWrapper
from envcore_adapters.brax import BraxEnv
from envcore_adapters.dm_env import DmEnv
from envcore_adapters.gymnasium import GymnasiumVectorEnv, gymnasium_id
from envcore_baselines import algorithms
from envcore_baselines.es import ESConfig
from envcore_baselines.ppo import PPOConfig
from envcore_testing.numerics import numerics

ENVIRONMENTS = ["brax/fast", "navix/Navix-Empty-5x5-v0", "pgx/2048"]


@pytest.fixture(autouse=True)
def standard_promotion() -> Any:
    """JAX's default promotion of dtypes and ranks, as users of optax and brax have it."""
    with numerics():
        yield


@pytest.mark.slow
@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_gymnasium(env_id: str) -> None:
    env = gymnasium.make(gymnasium_id(env_id))
    obs, _ = env.reset(seed=0)
    assert env.observation_space.contains(obs)
    obs, reward, *_ = env.step(env.action_space.sample())
    assert env.observation_space.contains(obs)
    assert np.isfinite(float(reward))


@pytest.mark.slow
@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_vectors_of_gymnasium(env_id: str) -> None:
    env = GymnasiumVectorEnv(env_id, 4)
    env.reset(seed=0)
    obs, reward, *_ = env.step(env.action_space.sample())
    assert env.observation_space.contains(obs)
    assert reward.shape == (4,)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_dm_env(env_id: str) -> None:
    env = DmEnv(env_id, seed=0)
    env.reset()
    step = env.step(env.action_spec().generate_value())
    env.observation_spec().validate(step.observation)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_brax(env_id: str) -> None:
    env = BraxEnv(env_id)
    state = jax.jit(env.reset)(jax.random.key(0))
    state = jax.jit(env.step)(state, np.zeros(env.action_size, np.float32))
    assert state.obs.shape == (env.observation_size,)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_rollouts(env_id: str) -> None:
    env, params = envcore.make(env_id)
    batch = LogWrapper(Batched(env, 3))
    actions = batch.action_space(params)

    @jax.jit
    def play(key: jax.Array) -> Any:
        start = start_rollout(batch, key, params)
        return run_rollout(batch, lambda _, obs, key: actions.sample(key), start, 5, params)[1].reward

    assert play(jax.random.key(0)).shape == (5, 3)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", [*ENVIRONMENTS, "jumanji/Cleaner-v0"])
def test_agents(env_id: str) -> None:
    env, params = envcore.make(env_id)
    for name, config in (
        ("ppo", PPOConfig(num_envs=2, rollout_steps=4, minibatches=1, epochs=1, total_steps=8)),
        ("es", ESConfig(population_size=2, episodes=1, max_steps=3, total_steps=6)),
    ):
        learner = algorithms.learner(name, env, params, config)
        state = jax.jit(learner.init)(jax.random.key(0))
        state, _ = jax.jit(learner.update)(state)
        obs, _ = learner.env.reset(jax.random.key(0), params)
        action, _ = learner.act(state.agent, learner.start_memory(), obs, jax.random.key(1))
        assert env.action_space(params).contains(action)
