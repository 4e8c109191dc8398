"""Time steps."""

import contextlib
from unittest import mock

import envcore_gymnax as gymnax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_gymnax import settings
from envcore_gymnax.wrappers import GymnaxToDmEnvWrapper

# pyright: reportAttributeAccessIssue=false, reportPossiblyUnboundVariable=false


@pytest.mark.parametrize("is_six", [False, True])
def test_time_steps(is_six):
    env, params = gymnax.make("CartPole-v1")
    params = params.replace(max_steps_in_episode=2)
    steps = GymnaxToDmEnvWrapper(env)
    key = jax.random.key(0)
    with mock.patch.object(settings, "_six_values", True) if is_six else contextlib.nullcontext():
        first = steps.reset(key, params)
    assert (first.reward, first.discount, first.reward.dtype) == (0, 1, jnp.float32)
    np.testing.assert_array_equal(first.observation, env.reset(key, params)[0])
    with mock.patch.object(settings, "_six_values", True) if is_six else contextlib.nullcontext():
        second = steps.step(key, first, 0, params)
        last = steps.step(key, second, 1, params)
        fallen = steps.step(key, first.replace(state=first.state.replace(theta=jnp.float32(0.3))), 0, params)
    assert (second.reward, second.discount, last.discount) == (1, 1, float(is_six))
    assert (last.state.time, fallen.discount) == (0, 0)
    if is_six:
        np.testing.assert_array_equal(second.final_observation, second.observation)
        assert not np.array_equal(last.final_observation, last.observation)
    else:
        assert last.final_observation is None
