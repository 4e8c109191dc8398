"""`MeasuredRollout`: it counts what a rollout does, however it is cut, on any devices."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched
from envcore_runs.measured_rollout import MeasuredRollout, first_states
from envcore_runs.placement import sharding
from envcore_runs.policies import find_player
from envcore_testing.trees import value_differences
from toy import Counter, Spring

ENV, PARAMS, KEY = Spring(), Spring().default_params, jax.random.key(5)
NUM_ENVS, NUM_STEPS = 6, 50


def measured(
    devices: int = 1, chunk: int | None = 16, policy: Any = "random", env: Any = ENV, episodes: int = 2
) -> MeasuredRollout:
    player = find_player(policy, "Env-v0", env, env.default_params)
    split = sharding("num_envs", NUM_ENVS, devices)
    return MeasuredRollout(player, NUM_ENVS, env.default_params, KEY, episodes, split, chunk)


def completed(rollout: MeasuredRollout) -> MeasuredRollout:
    while rollout.progress.steps < NUM_STEPS:
        rollout.advance(NUM_STEPS - rollout.progress.steps)
    return rollout


def reference() -> Any:
    """The steps of the same rollout."""
    env = Batched(ENV, NUM_ENVS)
    return jax.jit(lambda: run_rollout(env, random_policy(env), start_rollout(env, KEY), NUM_STEPS)[1])()


@pytest.mark.parametrize("episodes", [1, 2])
def test_it_counts_the_first_episodes_of_run_rollout(episodes: int) -> None:
    steps, returns, lengths = reference(), [], []
    for i in range(NUM_ENVS):
        start = 0
        for end in np.flatnonzero(steps.done[:, i])[:episodes]:
            returns.append(float(steps.reward[start : end + 1, i].sum()))
            lengths.append(end + 1 - start)
            start = end + 1
    progress = completed(measured(episodes=episodes)).progress
    found = progress.unbiased
    assert (found.episodes, progress.unfinished) == (len(returns), 0) == (NUM_ENVS * episodes, 0)
    assert found.mean_return == pytest.approx(np.mean(returns), rel=1e-5)
    assert found.mean_length == pytest.approx(np.mean(lengths), rel=1e-5)


@pytest.mark.parametrize("devices", [1, 2])
def test_there_is_no_mean_until_all_environments_have_finished(devices: int) -> None:
    rollout, ends, unfinished = measured(devices, chunk=1, episodes=1), reference().done, NUM_ENVS
    for step in range(NUM_STEPS):
        rollout.advance(1)
        progress, unfinished = rollout.progress, int((~ends[: step + 1].any(0)).sum())
        assert (progress.unfinished, progress.unbiased.episodes) == (unfinished, NUM_ENVS - unfinished)
        assert np.isnan(progress.unbiased.mean_return) == (unfinished > 0)
    assert unfinished == 0


def test_devices_do_not_change_what_it_does() -> None:
    one, two = (completed(measured(devices)) for devices in (1, 2))
    assert (one.num_devices, two.num_devices) == (1, 2)
    (progress, carry), (other, split) = one.snapshot(), two.snapshot()
    assert value_differences(jax.device_get(carry), jax.device_get(split)) == []
    assert progress.statistics.episodes == other.statistics.episodes
    assert progress.statistics.mean_return == pytest.approx(other.statistics.mean_return)


@pytest.mark.parametrize("devices", [1, 2])
def test_a_resumed_rollout_goes_on_from_the_snapshot(devices: int) -> None:
    rollout, again = measured(devices), measured(devices)
    assert rollout.advance(NUM_STEPS) == 16
    progress, carry = rollout.snapshot()
    again.resume(carry, dataclasses.replace(progress, earlier=progress.steps))
    assert (again.progress.steps, again.progress.earlier) == (16, 16)
    for each in (rollout, again):
        completed(each)
    assert value_differences(*(jax.device_get(each.snapshot()[1]) for each in (rollout, again))) == []
    assert again.progress.statistics == rollout.progress.statistics


def test_chunks_end_at_the_limit_and_at_their_length() -> None:
    rollout = measured()
    before = rollout.progress
    for limit, steps in ((100, 16), (3, 3), (16, 16), (17, 16)):
        assert rollout.advance(limit) == steps
        assert rollout.progress.steps == before.steps + steps
        assert rollout.progress.seconds > before.seconds
        before = rollout.progress
    chosen = measured(chunk=None)
    assert chosen.advance(10**9) == chosen.progress.steps > 16


@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.parametrize("wrong", [0, NUM_ENVS - 1])
def test_an_action_outside_of_the_action_space_is_an_error(wrong: int, devices: int) -> None:
    start = reference().obs[0, wrong]

    def policy(policy_params: Any, obs: jax.Array, key: jax.Array) -> jax.Array:
        """Is wrong in the first step of one environment."""
        return jnp.where((obs == start).all(), np.float32(2), np.float32(0))[None]

    rollout = measured(devices, policy=policy)
    before = rollout.progress
    with pytest.raises(InvalidArgumentError, match=r"returned actions that are not in Box\(-1, 1, \(1,\), float32\)"):
        rollout.advance(16)
    assert rollout.progress == before


@pytest.mark.parametrize("devices", [1, 2])
def test_first_states_are_those_of_the_first_environment(devices: int) -> None:
    player = find_player("random", "Spring-v0", ENV, PARAMS)
    found = first_states(player, NUM_ENVS, PARAMS, KEY, sharding("num_envs", NUM_ENVS, devices), NUM_STEPS)
    expected = jax.tree.map(lambda x: np.asarray(x)[:, 0], reference().state)
    assert value_differences(found, expected) == []


def test_the_struct_is_that_of_the_state() -> None:
    rollout = measured(env=Counter())
    carry = rollout.snapshot()[1]
    assert jax.tree.map(jnp.shape, carry) == jax.tree.map(lambda x: x.shape, rollout.struct)
    assert dataclasses.replace(carry).rollout.state.count.shape == (NUM_ENVS,)
