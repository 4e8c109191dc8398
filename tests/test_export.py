"""Every environment can be exported, and a trained agent with it."""

from __future__ import annotations

from typing import Any

import envcore
import envcore_baselines
import jax
import numpy as np
import pytest
from envcore.rollout import random_policy
from envcore_runs.export import export_policy, export_reset, export_rollout, export_step

SPECS = [found.spec for found in envcore.registry.values() if not found.spec.family]
IDS = sorted(spec.id for spec in SPECS if "MNIST" not in spec.id)  # its images are downloaded


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_every_environment_can_be_exported(env_id: str) -> None:
    env, params = envcore.make(env_id)
    policy = random_policy(env, params)
    for exported in (export_step(env, params), export_rollout(env, policy, 10, params)):
        again = jax.export.deserialize(exported.serialize())
        assert again.platforms == ("cpu", "cuda", "tpu")
        assert str(again.in_avals) == str(exported.in_avals)


@pytest.mark.slow
def test_a_trained_agent_plays_as_an_exported_program() -> None:
    env, params = envcore.make("CartPole-v1")
    agent = envcore_baselines.load("CartPole-v1")

    def policy(policy_params: Any, obs: Any, key: jax.Array) -> Any:
        return agent.act(agent.start_memory(), obs, key)[0]

    keys = jax.random.split(jax.random.PRNGKey(0), 4)
    rollout = jax.export.deserialize(export_rollout(env, policy, 500, params).serialize())
    _, _, reward, terminated, truncated = rollout.call(keys)
    assert reward.sum(axis=1).tolist() == [500.0] * 4
    assert not terminated.any()
    assert truncated[:, -1].all()
    act = jax.export.deserialize(export_policy(policy, env, params).serialize())
    obs, _ = export_reset(env, params).call(keys)
    chosen = [policy(None, each, key) for each, key in zip(obs, keys, strict=True)]
    np.testing.assert_array_equal(act.call(keys, obs), chosen)
