"""Every environment does on two CPU devices what it does on one, bit for bit.

The scheduled workflow runs this without the plugin `unoptimized`: the programs are to be those of users.
"""

from __future__ import annotations

from typing import Any

import envcore
import jax
import pytest
from envcore.devices import all_devices, spread
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched, Sharded
from envcore_testing.trees import value_differences

NUM_ENVS, NUM_STEPS = 256, 200
SPECS = [found.spec for found in envcore.registry.values() if not found.spec.family]
IDS = sorted(spec.id for spec in SPECS if "MNIST" not in spec.id)  # its images are downloaded


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("env_id", IDS)
def test_two_devices_equal_one(env_id: str) -> None:
    env, params = envcore.make(env_id)

    def rollout(batch: Any) -> Any:
        """All that a rollout returns, with the batch's axis first."""

        def run(key: jax.Array) -> Any:
            start = start_rollout(batch, key, params)
            end, steps = run_rollout(batch, random_policy(batch, params), start, NUM_STEPS, params)
            return end.state, jax.tree.map(
                lambda x: x.swapaxes(0, 1), (steps.obs, steps.action, steps.reward, steps.info)
            )

        return run

    key = jax.random.key(0)
    sharded = Sharded(env, NUM_ENVS)
    expected = jax.device_get(jax.jit(rollout(Batched(env, NUM_ENVS)))(key))
    for program in (rollout(sharded), spread(rollout(sharded.share), all_devices(), (False,))):
        assert value_differences(jax.device_get(jax.jit(program)(key)), expected) == []
