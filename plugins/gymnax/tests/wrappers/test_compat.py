"""Five values from environments that return six."""

from unittest import mock

import envcore_gymnax as gymnax
import jax
from envcore_gymnax import settings
from envcore_gymnax.wrappers import LegacyStepAPIWrapper

# pyright: reportAttributeAccessIssue=false


def test_five_values_from_five_or_six():
    env, params = gymnax.make("Pendulum-v1")
    params = params.replace(max_steps_in_episode=1)
    key, wrapped = jax.random.key(0), LegacyStepAPIWrapper(env)
    _, state = wrapped.reset(key, params)
    _, after, _, done, _ = wrapped.step(key, state, 0.0, params)
    assert (done, after.time) == (True, 0)
    with mock.patch.object(settings, "_six_values", True):
        _, _, _, done, info = LegacyStepAPIWrapper(env).step(key, state, 0.0, params)
    assert (done, info["truncated"], info["terminated"]) == (True, True, False)
