"""Programs from gymnax's README and notebooks run with only the import line changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import envcore as gymnax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_gymnax.experimental import RolloutWrapper
from envcore_viewer import Visualizer
from flax import linen as nn
from PIL import Image

NUM_STEPS = 30


class MLP(nn.Module):
    num_hidden_units: int
    num_hidden_layers: int
    num_output_units: int

    @nn.compact
    def __call__(self, x: Any, rng: Any = None) -> Any:
        for _ in range(self.num_hidden_layers):
            x = nn.Dense(features=self.num_hidden_units)(x)
            x = nn.relu(x)
        return nn.Dense(features=self.num_output_units)(x)


model: Any = MLP(16, 1, 1)
rng = jax.random.PRNGKey(0)
env, env_params = gymnax.make("Pendulum-v1")


@pytest.fixture(scope="module")
def policy_params() -> Any:
    return model.init(rng, jnp.zeros(3), None)


def rollout(rng_input, policy_params, env_params, steps_in_episode) -> Any:
    rng_reset, rng_episode = jax.random.split(rng_input)
    obs, state = env.reset(rng_reset, env_params)

    def policy_step(state_input, tmp):
        obs, state, policy_params, rng = state_input
        rng, rng_step, _rng_net = jax.random.split(rng, 3)
        action = model.apply(policy_params, obs)
        next_obs, next_state, reward, done, _ = env.step(rng_step, state, action, env_params)
        carry = [next_obs, next_state, policy_params, rng]
        return carry, [obs, action, reward, next_obs, done]

    _, scan_out = jax.lax.scan(policy_step, [obs, state, policy_params, rng_episode], (), steps_in_episode)
    obs, action, reward, next_obs, done = scan_out
    return obs, action, reward, next_obs, done


def test_basic_api() -> None:
    rng = jax.random.PRNGKey(0)
    rng, key_reset, key_act, key_step = jax.random.split(rng, 4)
    env, env_params = gymnax.make("Pendulum-v1")
    obs, state = env.reset(key_reset, env_params)
    action = env.action_space(env_params).sample(key_act)
    n_obs, n_state, reward, done, _ = env.step(key_step, state, action, env_params)
    assert n_obs.shape == obs.shape == (3,)
    assert reward < 0
    assert not done
    assert n_state.time == 1


def test_hand_written_scan(policy_params: Any) -> None:
    obs, action, reward, next_obs, done = jax.jit(rollout, static_argnums=3)(rng, policy_params, env_params, NUM_STEPS)
    assert obs.shape == next_obs.shape == (NUM_STEPS, 3)
    assert action.shape == (NUM_STEPS, 1)
    assert reward.shape == done.shape == (NUM_STEPS,)
    np.testing.assert_array_equal(obs[1:], next_obs[:-1])


def test_vmap_over_keys(policy_params: Any) -> None:
    batch_rollout = jax.vmap(rollout, in_axes=(0, None, None, None))
    rewards = batch_rollout(jax.random.split(rng, 4), policy_params, env_params, NUM_STEPS)[2]
    assert rewards.shape == (4, NUM_STEPS)
    assert len(np.unique(rewards[:, 0])) == 4


def test_vmap_over_params(policy_params: Any) -> None:
    many = jax.tree.map(lambda x: jnp.broadcast_to(x, (3, *jnp.shape(x))), env_params)
    many = many.replace(g=jnp.array([5.0, 10.0, 15.0]))
    rewards = jax.vmap(rollout, in_axes=(None, None, 0, None))(rng, policy_params, many, NUM_STEPS)[2]
    plain = rollout(rng, policy_params, env_params, NUM_STEPS)[2]
    np.testing.assert_allclose(rewards[1], plain, rtol=1e-4)
    assert not np.allclose(rewards[0], plain)


def test_rollout_wrapper(policy_params: Any) -> None:
    manager = RolloutWrapper(model.apply, env_name="Pendulum-v1", num_env_steps=NUM_STEPS)
    *_, cum_ret = manager.single_rollout(rng, policy_params)
    assert cum_ret.shape == (1,)
    rng_batch = jax.random.split(rng, 10)
    obs, action, reward, next_obs, _, cum_ret = manager.batch_rollout(rng_batch, policy_params)
    assert obs.shape == next_obs.shape == (10, NUM_STEPS, 3)
    assert action.shape == (10, NUM_STEPS, 1)
    np.testing.assert_allclose(cum_ret[:, 0], reward.sum(1), rtol=1e-5)
    # gymnax's README uses jax.tree_map, which JAX has removed.
    batch_params = jax.tree.map(lambda x: jnp.tile(x, (5, 1)).reshape(5, *x.shape), policy_params)
    *_, cum_ret = manager.population_rollout(rng_batch, batch_params)
    assert cum_ret.shape == (5, 10, 1)


@pytest.mark.slow
def test_episode_loop_in_python_and_its_animation(tmp_path: Path) -> None:
    env, env_params = gymnax.make("MountainCar-v0")
    key, rng_reset = jax.random.split(rng)
    _, env_state = env.reset(rng_reset, env_params)
    state_seq, reward_seq = [], []
    while True:
        state_seq.append(env_state)
        key, rng_act, rng_step = jax.random.split(key, 3)
        action = env.action_space(env_params).sample(rng_act)
        _, next_env_state, reward, done, _ = env.step(rng_step, env_state, action, env_params)
        reward_seq.append(reward)
        if done:
            break
        env_state = next_env_state
    assert len(state_seq) == 200
    cum_rewards = jnp.cumsum(jnp.array(reward_seq))
    assert cum_rewards[-1] == -200
    vis = Visualizer(env, env_params, state_seq, cum_rewards)
    vis.animate(f"{tmp_path}/anim.gif")
    np.testing.assert_allclose(vis.frames[7], env.render(state_seq[7], env_params), atol=1)
    with Image.open(tmp_path / "anim.gif") as image:
        assert image.size == vis.frames.shape[2:0:-1]
