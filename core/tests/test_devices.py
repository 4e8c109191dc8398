"""Two CPU devices: what they draw together is what one draws, and loops run inside `jax.shard_map`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import random, spaces
from envcore.devices import all_devices, spread
from envcore.rollout import run_rollout, start_rollout
from envcore.wrappers import Batched
from envcore_testing.trees import value_differences
from jax.sharding import Mesh, PartitionSpec
from toy import Spring


@pytest.mark.parametrize(
    "space",
    [
        spaces.Discrete(5),
        spaces.MultiDiscrete([2, 70_000]),
        spaces.Box(-1.0, 2.0, (3,)),
        spaces.Box(-np.inf, [0.0, np.inf]),
        spaces.Box(0, 2**31 - 1, (2,), jnp.int32),
        spaces.Box(False, True, (2,), jnp.bool_),
        spaces.Tuple([spaces.Discrete(3), spaces.Dict({"a": spaces.Box(0.0, 1.0)})]),
    ],
    ids=repr,
)
@pytest.mark.parametrize("kind", ["threefry2x32", "rbg"])
def test_shares_of_a_space_are_sampled_together(space: spaces.Space, kind: str) -> None:
    key = jax.random.key(3, impl=kind)
    share = space.batch(4).over_devices("envs")
    assert share != space.batch(4)
    assert share == space.batch(4).over_devices("envs")
    sample = spread(share.sample, all_devices(), (False,))
    values = jax.jit(sample)(key)
    assert value_differences(jax.device_get(values), jax.device_get(space.batch(8).sample(key))) == []
    assert space.batch(8).contains(values)


def test_shares_of_keys() -> None:
    for key in (jax.random.key(3), jax.random.key(3, impl="rbg")):
        keys = jax.jit(spread(Batched(Spring(), 3, "envs").keys, all_devices(), (False,)))(key)
        assert (keys == random.spawn(key, 6)).all()
        assert (random.spawn(key, 2, jnp.int32(3), 6) == random.spawn(key, 6)[3:5]).all()


@pytest.mark.parametrize("varying", ["key", "params", "policy_params"])
def test_a_rollout_inside_shard_map_may_differ_by_device_in_one_thing_alone(varying: str) -> None:
    env = Batched(Spring(), 3)
    given: dict[str, Any] = {
        "key": jax.random.key(0),
        "params": env.default_params,
        "policy_params": jnp.zeros((), jnp.float32),
    }
    two = jax.tree.map(lambda x: jnp.stack([jnp.asarray(x)] * 2), given[varying])

    def pushed(bias: Any, obs: Any, key: jax.Array) -> Any:
        return env.action_space(env.default_params).sample(key) + bias

    def rollout(each: Any) -> jax.Array:
        own = {**given, varying: jax.tree.map(lambda x: x[0], each)}
        start = start_rollout(env, own["key"], own["params"])
        rewards = run_rollout(
            env, pushed, start, 4, own["params"], own["policy_params"], collect=lambda step: step.reward
        )[1]
        return rewards[None]

    split = PartitionSpec("envs")
    rewards = jax.jit(
        jax.shard_map(rollout, mesh=Mesh(np.array(jax.devices()), ("envs",)), in_specs=split, out_specs=split)
    )(two)
    np.testing.assert_array_equal(rewards[0], rewards[1])
