"""`BraxEnv` under brax's wrappers, and brax's PPO."""

from typing import Any

import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from brax.envs.wrappers import training
from envcore.errors import InvalidActionError, InvalidArgumentError
from envcore.wrappers import Batched
from envcore_adapters.brax import BraxEnv
from envcore_classic_control import CartPole

# pyright: reportAttributeAccessIssue=false

KEYS = [jax.random.key, jax.random.PRNGKey]


@pytest.fixture
def promotion_of_brax():
    """brax promotes dtypes as JAX does by default; the tests' JAX is strict."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


@pytest.mark.parametrize("make_key", KEYS)
@pytest.mark.parametrize("env_id", ["CartPole-v1", "Pendulum-v1", "Breakout-MinAtar", "Reacher-misc", "Catch-bsuite"])
def test_steps_are_those_of_envcore(env_id, make_key):
    env, (ours, params) = BraxEnv(env_id), envcore.make(env_id)
    state = jax.jit(env.reset)(make_key(0))
    assert state.obs.shape == (env.observation_size,)
    space = ours.action_space(params)
    for seed in range(5):
        action = jax.random.uniform(jax.random.key(seed), (env.action_size,), minval=-1)
        after = jax.jit(env.step)(state, action)
        if isinstance(space, envcore.spaces.Discrete):
            action = jnp.argmax(action)
        else:
            action = space.low * (1 - (action + 1) / 2) + space.high * (action + 1) / 2
        key = envcore.random.split(state.info["rng"])[1]
        obs, _, reward, terminated, _ = ours.step_env(key, state.pipeline_state, action, params)
        np.testing.assert_allclose(after.obs, obs.astype(np.float32).reshape(-1), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(after.reward, reward, rtol=1e-5)
        assert (after.obs.dtype, after.reward.dtype, after.done.dtype) == (np.float32,) * 3
        assert bool(after.done) == bool(terminated)
        assert jax.tree.structure(after) == jax.tree.structure(state)
        state = after


def test_time_limits_are_braxs(promotion_of_brax):
    env = BraxEnv("CartPole-v1", {"max_steps_in_episode": 3})
    assert env.episode_length == 3
    wrapped = training.wrap(env, episode_length=env.episode_length)
    state = wrapped.reset(jax.random.split(jax.random.PRNGKey(0), 2))
    for _ in range(3):
        state = jax.jit(wrapped.step)(state, jnp.array([[0.0, 1.0], [1.0, 0.0]]))
    assert state.done.tolist() == [1, 1]
    assert state.info["truncation"].tolist() == [1, 1]
    assert BraxEnv("Breakout-MinAtar").episode_length == 1000


def test_bad_arguments_are_reported():
    env = BraxEnv("CartPole-v1")
    with pytest.raises(InvalidActionError, match=r"must have shape \(2,\), got \(5, 2\)"):
        env.step(env.reset(jax.random.key(0)), jnp.zeros((5, 2)))
    with pytest.raises(InvalidArgumentError, match="expected a random key, got 3"):
        env.reset(3)  # pyright: ignore[reportArgumentType]
    cartpole, _ = envcore.make("CartPole-v1")
    with pytest.raises(InvalidArgumentError, match="brax makes batches itself"):
        BraxEnv(Batched(cartpole, 2))
    with pytest.raises(InvalidArgumentError, match=r"Discrete or 1-d Box actions, but Odd has MultiDiscrete"):
        BraxEnv(Odd())


class Odd(CartPole):
    """An environment whose actions brax has no words for."""

    def action_space(self, params) -> Any:
        return envcore.spaces.MultiDiscrete([2, 2])


@pytest.mark.client
@pytest.mark.long
def test_braxs_ppo_trains_pendulum(promotion_of_brax, monkeypatch):
    # brax 0.14.2 calls what JAX 0.10 has removed.
    def device_put_replicated(tree, devices):
        return jax.tree.map(lambda x: jnp.stack([x] * len(devices)), tree)

    monkeypatch.setattr(jax, "device_put_replicated", device_put_replicated, raising=False)
    from brax.training.agents.ppo import train

    returns = []
    env = BraxEnv("Pendulum-v1")
    train.train(
        environment=env,
        num_timesteps=600_000,
        episode_length=env.episode_length,
        num_envs=64,
        num_eval_envs=32,
        unroll_length=16,
        batch_size=64,
        num_minibatches=8,
        num_updates_per_batch=6,
        learning_rate=1e-3,
        discounting=0.95,
        entropy_cost=1e-3,
        reward_scaling=0.1,
        normalize_observations=True,
        num_evals=2,
        max_devices_per_host=1,
        seed=0,
        progress_fn=lambda steps, metrics: returns.append(float(metrics["eval/episode_reward"])),
    )
    assert returns[0] < -1000
    assert returns[-1] > -500
