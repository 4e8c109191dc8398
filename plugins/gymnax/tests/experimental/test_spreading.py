"""Rollouts of many keys and of a population over the devices of the process."""

from __future__ import annotations

from typing import Any

import chex
import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_gymnax.experimental import RolloutWrapper

KEY = jax.random.key(0)
ENV, _ = envcore.make("Pendulum-v1")


def push(policy_params: Any, obs: Any, key: jax.Array) -> jax.Array:
    return policy_params["push"]


@pytest.mark.slow
def test_pmap_over_two_devices() -> None:
    manager = RolloutWrapper(env=ENV, num_env_steps=8)
    keys = jax.random.split(KEY, 6)
    spread = jax.pmap(manager.batch_rollout, in_axes=(0, None))(keys.reshape(2, 3), None)[-1]
    np.testing.assert_array_equal(spread.reshape(-1), manager.batch_rollout(keys, None)[-1].reshape(-1))


@pytest.mark.slow
def test_rollouts_are_spread_over_devices() -> None:
    manager = RolloutWrapper(env=ENV, num_env_steps=40)
    keys = jax.random.split(KEY, 6)
    spread = manager.batch_rollout(keys, None)
    assert all(len(x.sharding.device_set) == 2 for x in spread)
    inside = jax.jit(manager.batch_rollout)(keys, None)  # where one device does it
    assert all(len(x.sharding.device_set) == 1 for x in inside)
    chex.assert_trees_all_equal(spread, inside, strict=True)
    legacy = manager.batch_rollout(jax.random.key_data(keys), None)
    np.testing.assert_array_equal(legacy[-1], spread[-1])


@pytest.mark.slow
@pytest.mark.parametrize(("members", "num_keys", "split"), [(4, 3, (2, 3)), (3, 4, (3, 2)), (3, 3, (3, 3))])
def test_a_population_is_spread_over_devices(members: int, num_keys: int, split: tuple[int, int]) -> None:
    manager = RolloutWrapper(push, env=ENV, num_env_steps=5)
    keys, population = jax.random.split(KEY, num_keys), {"push": jnp.linspace(-0.5, 0.5, members)[:, None]}
    spread = manager.population_rollout(keys, population)
    assert spread[-1].addressable_shards[0].data.shape == (*split, 1)
    chex.assert_trees_all_equal(spread, jax.jit(manager.population_rollout)(keys, population), strict=True)


@pytest.mark.slow
def test_who_places_an_argument_chooses_the_device() -> None:
    manager = RolloutWrapper(env=ENV, num_env_steps=8)
    keys = jax.random.split(KEY, 6)
    second = jax.devices()[1]
    assert manager.batch_rollout(jax.device_put(keys, second), None)[-1].sharding.device_set == {second}
    with jax.default_device(second):
        assert manager.batch_rollout(keys, None)[-1].sharding.device_set == {second}
    assert len(manager.batch_rollout(keys[:5], None)[-1].sharding.device_set) == 1  # which two devices cannot share
    constant = jax.pmap(lambda _: manager.batch_rollout(keys, None)[-1])(jnp.arange(2))
    np.testing.assert_array_equal(constant[0], manager.batch_rollout(keys, None)[-1])
