"""The wrappers of training loops."""

from unittest import mock

import envcore_gymnax as gymnax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore_gymnax import settings
from envcore_gymnax.wrappers.purerl import FlattenObservationWrapper, LogWrapper, StickyActionWrapper

# pyright: reportAttributeAccessIssue=false, reportPossiblyUnboundVariable=false


def test_the_wrappers_of_training_loops():
    env, params = gymnax.make("Catch-bsuite")
    env = LogWrapper(FlattenObservationWrapper(env))
    assert env.observation_space(params).shape == (50,)
    keys = jax.random.split(jax.random.key(0), 3)
    obs, state = jax.vmap(env.reset, (0, None))(keys, params)
    assert obs.shape == (3, 50)
    total = 0
    for _ in range(9):
        obs, state, reward, done, info = jax.vmap(env.step, (0, 0, 0, None))(keys, state, jnp.ones(3, int), params)
        total += reward
    assert done.all()
    assert obs.shape == (3, 50)
    np.testing.assert_array_equal(info["returned_episode_returns"], total)
    assert info["returned_episode_lengths"].tolist() == [9, 9, 9]
    assert info["returned_episode"].all()
    assert info["returned_episode_valid"].all()
    assert info["timestep"].tolist() == [9, 9, 9]


def test_they_pass_six_values_on():
    env, params = gymnax.make("Catch-bsuite")
    env = LogWrapper(FlattenObservationWrapper(env))
    _, state = env.reset(jax.random.key(0), params)
    with mock.patch.object(settings, "_six_values", True):
        result = env.step(jax.random.key(0), state, 0, params)
    assert len(result) == 6
    assert result[-1]["final_observation"].shape == (50,)


def test_a_flat_observation_needs_a_box():
    with pytest.raises(TypeError, match=r"needs a Box, got Discrete\(16\)"):
        FlattenObservationWrapper(gymnax.make("FrozenLake-misc")[0]).observation_space()


@pytest.mark.slow
def test_sticky_actions():
    env, params = gymnax.make("Catch-bsuite")
    key = jax.random.key(0)
    plain, always = StickyActionWrapper(env), StickyActionWrapper(env, 1.0)
    _, state = plain.reset(key, params)
    _, after, *_ = plain.step(key, state, 2, params)
    expected = env.step(key, state.env_state, 2, params)[1]
    assert jax.tree.all(jax.tree.map(np.array_equal, after.env_state, expected))
    assert (state.last_action, after.last_action) == (0, 2)
    _, repeated, *_ = always.step(key, after, 0, params)
    assert (repeated.last_action, repeated.env_state.paddle_x) == (2, 4)
    counts = [StickyActionWrapper(env, 0.5).step(jax.random.key(i), state, 2, params)[1].last_action for i in range(40)]
    assert 8 < sum(int(count) == 0 for count in counts) < 32


@pytest.mark.parametrize(
    ("env_id", "probability", "message"),
    [
        ("Pendulum-v1", 0.1, "requires a Discrete action space"),
        ("Catch-bsuite", 1.5, r"must be in \[0, 1\], got"),
    ],
)
def test_sticky_actions_that_cannot_be(env_id, probability, message):
    with pytest.raises(InvalidArgumentError, match=message):
        StickyActionWrapper(gymnax.make(env_id)[0], probability)
