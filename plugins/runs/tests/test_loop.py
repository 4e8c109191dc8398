"""`Loop`: it counts what a rollout does, however it is cut, on any devices."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched
from envcore_runs import memory
from envcore_runs.distributed import sharding
from envcore_runs.episodes import EpisodeStatistics
from envcore_runs.errors import NotEnoughMemoryError
from envcore_runs.loop import Loop, Plan, check_memory
from envcore_runs.policies import find_player
from envcore_runs.run import rollout
from envcore_testing.trees import value_differences
from toy import Spring

ENV, KEY = Spring(), jax.random.key(5)
NUM_ENVS, NUM_STEPS = 6, 50


def plan(
    devices: int = 1, chunk: int | None = 16, policy: Any = "random", episodes: int = 2, num_envs: int = NUM_ENVS
) -> Plan:
    player = find_player(policy, "Env-v0", ENV, ENV.default_params)
    split = sharding("num_envs", num_envs, devices)
    return Plan(player, ENV.default_params, num_envs, NUM_STEPS, episodes, KEY, split, None, chunk, (), {})


def completed(loop: Loop) -> Loop:
    while loop.progress.steps < NUM_STEPS:
        loop.advance(NUM_STEPS - loop.progress.steps)
    return loop


def statistics(loop: Loop) -> EpisodeStatistics:
    return EpisodeStatistics.of(np.array(loop.progress.moments))


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
    loop = completed(Loop(plan(episodes=episodes)))
    found = statistics(loop)
    assert (found.episodes, loop.progress.unfinished) == (len(returns), 0) == (NUM_ENVS * episodes, 0)
    assert found.mean_return == pytest.approx(np.mean(returns), rel=1e-5)
    assert found.mean_length == pytest.approx(np.mean(lengths), rel=1e-5)


@pytest.mark.parametrize("chunk", [1, None])
def test_neither_devices_nor_chunks_change_what_it_does(chunk: int | None) -> None:
    one, two = completed(Loop(plan(1))), completed(Loop(plan(2, chunk=chunk)))
    assert value_differences(jax.device_get(one.snapshot()), jax.device_get(two.snapshot())) == []
    assert statistics(one).mean_return == pytest.approx(statistics(two).mean_return)
    assert one.progress.unfinished == two.progress.unfinished


@pytest.mark.parametrize("devices", [1, 2])
def test_a_resumed_rollout_goes_on_from_the_snapshot(devices: int) -> None:
    loop, again = Loop(plan(devices)), Loop(plan(devices))
    loop.advance(NUM_STEPS)
    again.resume(loop.snapshot(), loop.progress)
    assert again.progress.steps == 16
    assert value_differences(*(jax.device_get(completed(each).snapshot()) for each in (loop, again))) == []
    assert again.progress == loop.progress


@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.parametrize("wrong", [0, NUM_ENVS - 1])
def test_an_action_outside_of_the_action_space_is_an_error(wrong: int, devices: int) -> None:
    start = reference().obs[0, wrong]

    def policy(policy_params: Any, obs: jax.Array, key: jax.Array) -> jax.Array:
        """Is wrong in the first step of one environment."""
        return jnp.where((obs == start).all(), np.float32(2), np.float32(0))[None]

    loop = Loop(plan(devices, policy=policy))
    with pytest.raises(InvalidArgumentError, match=r"returned actions that are not in Box\(-1, 1, \(1,\), float32\)"):
        loop.advance(16)
    assert loop.progress.steps == 0


@pytest.mark.usefixtures("toys")
def test_the_reported_number_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "device_bytes", lambda _: 2_000_000)
    message = r"^num_envs 1,000,000 would take about .* at most [0-9,]+ fit\.$"
    with pytest.raises(NotEnoughMemoryError, match=message) as caught:
        rollout("Counter-v0", num_envs=1_000_000, steps=3)
    fit = int(re.search(r"at most ([0-9,]+) fit", str(caught.value))[1].replace(",", ""))  # pyright: ignore
    assert 1_000 < fit < 100_000
    assert rollout("Counter-v0", num_envs=fit, steps=3).steps == 3
    check_memory(plan(num_envs=1000), recorded_bytes=100)
    with pytest.raises(NotEnoughMemoryError):
        check_memory(plan(num_envs=1000), recorded_bytes=1000)
