import envcore
import jax
import numpy as np
import pytest
from compiled import compiled
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched
from envcore_fused.trace import lower

NUM_ENVS, NUM_STEPS = 64, 200


def _everything(transition):
    return transition.obs, transition.action, transition.reward, transition.done


def _played(program, key):
    """The final state, all steps and the sums, from the generated code."""
    call = compiled(program.text)
    words = np.array(jax.random.key_data(key))
    first, table = (
        np.zeros((n, width), np.uint32) for n, width in zip((1, NUM_STEPS), program.num_columns, strict=True)
    )
    state = [np.zeros((NUM_ENVS, *x.shape), x.dtype) for x in program.state]
    stacked = [np.zeros((NUM_STEPS, NUM_ENVS, *x.shape), x.dtype) for x in program.stacked]
    totals = [np.zeros((NUM_ENVS, *x.shape), x.dtype) for x in program.totals]
    call("start_table", words, first, 1)
    call("start", first, NUM_ENVS, *state)
    call("table", words, table, NUM_STEPS)
    call("rollout", table, NUM_ENVS, NUM_STEPS, *state, *stacked, *totals)
    return words, state, stacked, totals


def _reference(env, params, key):
    batch = Batched(env, NUM_ENVS)
    run = jax.jit(
        lambda key: run_rollout(
            batch, random_policy(batch), start_rollout(batch, key, params), NUM_STEPS, params, collect=_everything
        )
    )
    return run(key)


@pytest.mark.parametrize(
    "name", ["Asterix-MinAtar", "Breakout-MinAtar", "Catch-bsuite", "DeepSea-bsuite", "FourRooms-misc"]
)
def test_an_environment_of_integers_plays_what_run_rollout_plays(name):
    env, params = envcore.make(name)
    key = jax.random.key(3)
    words, state, stacked, totals = _played(lower(env, params, NUM_ENVS, _everything, lambda t: t.reward), key)
    end, steps = _reference(env, params, key)
    np.testing.assert_array_equal(words, jax.random.key_data(end.key))
    for ours, theirs in zip([*state, *stacked], jax.tree.leaves((end.state, steps)), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(totals[0], np.sum(steps[2], axis=0), rtol=1e-5, atol=1e-6)


def test_floats_are_close_and_integers_equal_in_cartpole():
    env, params = envcore.make("CartPole-v1")
    key = jax.random.key(3)
    _, state, stacked, _ = _played(lower(env, params, NUM_ENVS, _everything, lambda t: ()), key)
    end, steps = _reference(env, params, key)
    for ours, theirs in zip([*state, *stacked], jax.tree.leaves((end.state, steps)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-4 if ours.dtype.kind == "f" else 0)
