"""Every observation of a compiled rollout is in its space, those at the ends of episodes included.

The scheduled workflow runs this without the plugin `unoptimized`, because only optimized programs multiply by rounded
reciprocals.
"""

from __future__ import annotations

from typing import Any

import envcore
import jax
import jax.numpy as jnp
import pytest
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched

SPECS = [found.spec for found in envcore.registry.values() if not found.spec.family]
IDS = sorted(spec.id for spec in SPECS if "MNIST" not in spec.id)  # its images are downloaded
CHAINS = [(f"bsuite/{name}/{n}", {}) for name in ("memory_len", "umbrella_length") for n in (2, 4, 6, 10, 22)]
EXACT_AT_THE_END = [*CHAINS, ("Pong-misc", {"rules": "original"})]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(("env_id", "options"), [*EXACT_AT_THE_END, *((env_id, {}) for env_id in IDS)])
def test_observations_are_in_their_space(env_id: str, options: dict[str, Any]) -> None:
    env, params = envcore.make(env_id, **options)
    batch, space = Batched(env, 64), env.observation_space(params)
    contains = jax.vmap(space.contains)

    @jax.jit
    def play(key: jax.Array) -> Any:
        start = start_rollout(batch, key, params)
        policy = random_policy(batch, params)
        return run_rollout(
            batch, policy, start, 300, params, collect=lambda step: (contains(step.obs), contains(step.next_obs))
        )[1]

    obs, next_obs = jax.tree.map(jnp.all, play(jax.random.key(0)))
    assert obs
    assert next_obs
