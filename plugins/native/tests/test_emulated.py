"""The source that a GPU gets plays what `run_rollout` plays, with the threads of a block side by side."""

import itertools

import emulated
import envcore
import envcore_native
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched
from envcore_native import kernels
from envcore_testing.compilation import quick_jit

pytestmark = [pytest.mark.slow, pytest.mark.skipif(emulated.COMPILER is None, reason="there is no g++")]
RANDOM = np.random.default_rng(0)


def _network(*sizes):
    weights = [jnp.asarray(RANDOM.normal(size=pair) / 8, jnp.float32) for pair in itertools.pairwise(sizes)]

    def policy(weights, obs, key):
        x = obs.reshape(len(obs), -1).astype(jnp.float32)
        for each in weights[:-1]:
            x = jnp.tanh(x @ each + 0.1)
        return jax.random.categorical(key, x @ weights[-1])

    return policy, weights


@pytest.mark.parametrize(
    ("name", "num_envs", "sizes"),
    [
        ("Catch-bsuite", 40, None),
        ("CartPole-v1", 40, (4, 64, 64, 2)),
        ("Breakout-MinAtar", 33, (400, 64, 30, 3)),
        ("DiscountingChain-bsuite", 70, (2, 17, 5)),
    ],
)
def test_threads_of_a_gpu_play_what_run_rollout_plays(monkeypatch, tmp_path, name, num_envs, sizes):
    env, params = envcore.make(name)
    batch, params = Batched(env, num_envs), params.replace(max_steps_in_episode=12)
    policy, weights = _network(*sizes) if sizes else (random_policy(batch), None)
    start = quick_jit(lambda key: start_rollout(batch, key, params))(jax.random.key(3))

    def play(run):
        def fun(start):
            return run(batch, policy, start, 25, params, weights, lambda t: (t.obs, t.action, t.reward, t.done))

        (end, stacked) = quick_jit(fun)(start)
        return end.state, stacked

    theirs = play(run_rollout)
    monkeypatch.setattr(kernels, "call", emulated.caller(tmp_path))
    for a, b in zip(*map(jax.tree.leaves, (play(envcore_native.run_rollout), theirs)), strict=True):
        tolerance = 1e-4 if a.dtype.kind == "f" else 0
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
