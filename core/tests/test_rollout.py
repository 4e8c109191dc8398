from __future__ import annotations

import functools
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import random
from envcore.rollout import (
    random_policy,
    run_rollout,
    start_rollout,
)
from envcore.wrappers import Batched, LogWrapper
from toy import Counter, Spring

KEY = jax.random.key(0)


def test_run_rollout_equals_a_python_loop() -> None:
    env = Spring()
    policy = random_policy(env)
    start = start_rollout(env, KEY)
    end, steps = run_rollout(env, policy, start, 15)
    key, state = start.key, start.state
    # Two programs, which a compiler may contract differently.
    close = functools.partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-6)
    for t in range(15):
        key, key_act, key_step = random.spawn(key, 3)
        obs = env.observe(state, env.default_params)
        action = policy(None, obs, key_act)
        _, state, reward, done, info = env.step(key_step, state, action)
        close(steps.obs[t], obs)
        np.testing.assert_allclose(steps.action[t], action)
        close(steps.reward[t], reward)
        close(steps.next_obs[t], info["final_obs"])
        assert bool(steps.done[t]) == bool(done)
        assert bool(steps.info["truncated"][t]) == bool(info["truncated"])
    chex.assert_trees_all_close(end.state, state, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_run_rollout_in_two_parts_equals_one() -> None:
    env = LogWrapper(Batched(Spring(), 4))
    policy = random_policy(env)
    start = start_rollout(env, KEY)
    whole, steps = run_rollout(env, policy, start, 12)
    half, first = run_rollout(env, policy, start, 5)
    end, second = run_rollout(env, policy, half, 7)
    chex.assert_trees_all_equal(end.state, whole.state, strict=True)
    np.testing.assert_array_equal(jnp.concatenate([first.reward, second.reward]), steps.reward)


def test_next_obs_is_the_final_one_at_the_end_of_an_episode() -> None:
    env = Spring()
    _, steps = run_rollout(env, random_policy(env), start_rollout(env, KEY), 50)
    ends = np.flatnonzero(steps.done[:-1])
    goes_on = np.flatnonzero(~steps.done[:-1])
    assert ends.size
    np.testing.assert_allclose(steps.obs[1:][goes_on], steps.next_obs[:-1][goes_on], rtol=1e-6)
    assert (steps.obs[1:][ends] != steps.next_obs[:-1][ends]).any()
    assert (steps.obs[1:][ends][:, 1] == 0).all()  # a fresh spring is at rest


def test_policies_see_params_and_observations() -> None:
    def policy(policy_params: Any, obs: jax.Array, key: jax.Array) -> jax.Array:
        return jnp.where(obs[0] == 1, policy_params, 1 - policy_params)  # acts on the first count only

    _, steps = run_rollout(Counter(), policy, start_rollout(Counter(), KEY), 6, policy_params=jnp.int32(1))
    assert steps.action.tolist() == [1, 0, 0, 0, 0, 0]
