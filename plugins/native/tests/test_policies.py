"""Policies of users, beside `envcore.rollout.run_rollout`."""

from typing import Any

import envcore
import envcore_native
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import random
from envcore.errors import InvalidArgumentError
from envcore.rollout import run_rollout, start_rollout
from envcore.wrappers import Batched, FlattenObservation, LogWrapper
from envcore_testing.compilation import quick_jit

NUM_ENVS = 64


class Actor(nn.Module):
    outputs: int
    units: int = 20

    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            x = nn.tanh(nn.Dense(self.units)(x))
        return nn.Dense(self.outputs, kernel_init=nn.initializers.normal(1.0))(x)


def _outputs(network, weights, x) -> Any:
    return network.apply(weights, x)


def _seen(transition):
    return transition.obs, transition.action, transition.reward, transition.done


def _flat(obs):
    return obs.reshape(len(obs), -1).astype(jnp.float32)


def _batch(name, num_envs=NUM_ENVS):
    env, params = envcore.make(name)
    return Batched(env, num_envs), params.replace(max_steps_in_episode=25)


def _played(batch, policy, params, policy_params=None, num_steps=30, collect=_seen):
    """What envcore_native and envcore play."""
    start = quick_jit(lambda key: start_rollout(batch, key, params))(jax.random.key(3))
    arguments: Any = {"params": params, "policy_params": policy_params}
    ours = envcore_native.run_rollout(batch, policy, start, num_steps, **arguments, collect=collect)
    theirs = quick_jit(lambda start: run_rollout(batch, policy, start, num_steps, **arguments, collect=collect))(start)
    return ours, theirs


def _assert_equal(ours, theirs, tolerance=1e-4):
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if jnp.issubdtype(a.dtype, jax.dtypes.prng_key):
            a, b = jax.random.key_data(a), jax.random.key_data(b)
        allowed = tolerance if a.dtype.kind == "f" else 0
        np.testing.assert_allclose(a, b, rtol=allowed, atol=allowed)


def _network(batch, params):
    space = batch.env.action_space(params)
    network = Actor(space.n if hasattr(space, "n") else int(np.prod(space.shape)))
    obs = jnp.zeros((1, np.prod(batch.env.observation_space(params).shape)))
    return network, quick_jit(network.init)(jax.random.key(0), obs)


@pytest.mark.parametrize("name", ["CartPole-v1", pytest.param("Catch-bsuite", marks=pytest.mark.slow)])
def test_a_network_chooses_actions(name):
    batch, params = _batch(name)
    network, weights = _network(batch, params)
    ours, theirs = _played(batch, lambda w, obs, key: _outputs(network, w, _flat(obs)).argmax(1), params, weights)
    _assert_equal(ours, theirs)
    assert len(np.unique(ours[1][1])) > 1


@pytest.mark.slow
def test_a_network_acts_in_a_box():
    batch, params = _batch("Reacher-misc", 33)
    network, weights = _network(batch, params)
    ours, theirs = _played(
        batch, lambda w, obs, key: jnp.tanh(_outputs(network, w, obs)), params, weights, num_steps=12
    )
    _assert_equal(ours, theirs, 1e-3)
    assert np.std(ours[1][1]) > 0.1


@pytest.mark.slow
def test_plain_products_inside_vmap_and_wrappers():
    env, params = envcore.make("Catch-bsuite")
    batch = LogWrapper(FlattenObservation(Batched(env, 40)))
    random = np.random.default_rng(0)
    weights = [random.normal(size=(20, 50)), random.normal(size=20), random.normal(size=(20, 3))]
    weights = [jnp.asarray(each, jnp.float32) for each in weights]

    def choose(weights, obs):
        first, bias, second = weights
        return (jax.nn.relu(first @ obs.astype(jnp.float32) + bias) @ second).argmax()

    def policy(weights, obs, key):
        return jax.vmap(choose, (None, 0))(weights, obs)

    _assert_equal(*_played(batch, policy, params, weights))


def test_a_large_network_is_refused():
    batch, params = _batch("CartPole-v1", 8)
    network = Actor(2, units=40)
    weights = jax.eval_shape(network.init, jax.random.key(0), jnp.zeros((1, 4)))

    def play(start, weights):
        policy = lambda w, obs, key: _outputs(network, w, obs).argmax(1)  # noqa: E731
        return envcore_native.run_rollout(batch, policy, start, 3, params, weights)

    start = jax.eval_shape(lambda key: start_rollout(batch, key), jax.random.key(0))
    with pytest.raises(InvalidArgumentError, match=r"1,600 products .*, more than 1,024: use envcore.rollout"):
        jax.eval_shape(play, start, weights)


def _greedy(epsilon):
    def policy(weights, obs, key):
        key_coin, key_act = jax.random.split(key)
        is_random = jax.random.uniform(key_coin, (len(obs),)) < epsilon
        return jnp.where(is_random, jax.random.randint(key_act, (len(obs),), 0, 3), (obs[:, 2, 1] > 0).astype(int))

    return policy


def _sampled(weights, obs, key):
    return jax.random.categorical(key, obs[:, :3, 1] * jnp.array([1.0, 2.0, -1.0])[None])


def _by_our_random(weights, obs, key):
    key_coin, key_act = random.split(key)
    is_high = random.uniform(key_coin, (len(obs), 2)) < random.normal(key_act, (len(obs), 2))
    keys = random.split(random.fold_in(key, 7), len(obs))
    return is_high.sum(1, dtype=int) * jax.vmap(lambda key: random.integers(random.bits(key), 2))(keys)


def _each_with_its_key(weights, obs, key):
    keys = jax.random.split(key, len(obs))
    return jax.vmap(lambda key, obs: jax.random.randint(key, (), 0, 2) + (obs[0, 0] > 0).astype(int))(keys, obs)


def _shared(weights, obs, key):
    coin, start = jax.random.split(key)
    first = jax.random.randint(start, (), 0, 3)
    return jnp.where(jax.random.bernoulli(coin, 0.5, (len(obs), 2)).all(1), first, 1)


@pytest.mark.parametrize(
    "policy",
    [
        _greedy(0.3),
        _sampled,
        _by_our_random,
        *(pytest.param(each, marks=pytest.mark.slow) for each in (_each_with_its_key, _shared)),
    ],
)
def test_a_policy_draws_what_it_draws_in_run_rollout(policy):
    batch = Batched(envcore.make("Catch-bsuite")[0], NUM_ENVS)
    ours, theirs = _played(batch, policy, None)
    _assert_equal(ours, theirs)
    assert len(np.unique(ours[1][1])) > 1


@pytest.mark.slow
def test_noise_of_a_box():
    batch, params = _batch("Pendulum-v1", 33)

    def policy(scale, obs, key):
        return jnp.clip(scale * jax.random.normal(key, (len(obs), 1)), -2.0, 2.0)

    _assert_equal(*_played(batch, policy, params, 1.5, num_steps=12), 1e-3)


@pytest.mark.slow
def test_a_network_and_draws_collect_what_a_learner_needs():
    env, params = envcore.make("CartPole-v1")
    batch = LogWrapper(Batched(env, NUM_ENVS))
    network, weights = _network(Batched(env, NUM_ENVS), params)

    def policy(weights, obs, key):
        return jax.random.categorical(key, _outputs(network, weights, obs))

    ours, theirs = _played(batch, policy, params, weights)
    _assert_equal(ours, theirs)


@pytest.mark.parametrize(
    "policy",
    [
        lambda _, obs, key: jax.random.randint(key, (3, len(obs)), 0, 3)[0],
        lambda _, obs, key: jax.random.randint(key, (len(obs),), 0, 3)[::-1],
        lambda _, obs, key: jax.random.randint(key, (2,), 0, 3).repeat(len(obs) // 2),
        lambda _, obs, key: jnp.arange(len(obs)) % 3,
    ],
)
def test_rows_may_differ_by_their_place(policy):
    _assert_equal(*_played(Batched(envcore.make("Catch-bsuite")[0], NUM_ENVS), policy, None))
