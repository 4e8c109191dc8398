"""Envelope's adapter to gymnax takes every environment; it needs Python 3.12."""

from __future__ import annotations

# pyright: basic, reportMissingImports=false
import envcore_gymnax

envcore_gymnax.install()

import gymnax  # noqa: E402
import jax  # noqa: E402
import pytest  # noqa: E402
from envelope.adapters.gymnax_envelope import GymnaxEnvelope  # noqa: E402

pytestmark = pytest.mark.client

PLAYABLE = [env_id for env_id in gymnax.registered_envs if "MNIST" not in env_id]


@pytest.fixture(autouse=True)
def promotion_of_users():
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


@pytest.mark.parametrize("env_id", PLAYABLE)
def test_envelopes_adapter(env_id):
    env = GymnaxEnvelope.from_name(env_id)
    assert env.default_max_steps == gymnax.make(env_id)[1].max_steps_in_episode
    keys = jax.random.split(jax.random.key(0), 5)
    state, first = jax.jit(env.init)(keys[0])
    assert env.observation_space.contains(first.obs)
    for key in keys[1:]:  # from its first state, so that no game ends
        _, info = jax.jit(env.step)(state, env.action_space.sample(key))
        assert jax.tree.structure(info) == jax.tree.structure(first)
        assert info.obs.shape == first.obs.shape
