"""The start of a rollout: the same on any devices, and only where there is memory for it."""

from __future__ import annotations

import re
from typing import Any

import jax
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore.rollout import start_rollout
from envcore.wrappers import Batched
from envcore_runs import memory
from envcore_runs.errors import NotEnoughMemoryError
from envcore_runs.placement import sharding
from envcore_runs.policies import find_player
from envcore_runs.rollout_start import batched, check_memory, started
from envcore_runs.run import rollout
from envcore_testing.trees import value_differences
from toy import Counter, Spring

ENV, PARAMS = Spring(), Spring().default_params


@pytest.mark.parametrize(
    ("env", "key"),
    # What an "rbg" key draws under vmap depends on the whole batch, so here the environment must not draw.
    [(Spring(), jax.random.key(3)), (Counter(), jax.random.key(3, impl="rbg"))],
    ids=["threefry", "rbg"],
)
@pytest.mark.parametrize("devices", [1, 2])
def test_it_is_that_of_a_batch_on_one_device(devices: int, env: Any, key: jax.Array) -> None:
    player = find_player("random", "Env-v0", env, env.default_params)
    split, batch = batched(player, 6, sharding("num_envs", 6, devices))
    assert (split is None, batch.num_envs) == (devices == 1, 6 // devices)
    carry = started(batch, env.default_params, key, 4, split)
    whole = Batched(env, 6)
    expected = start_rollout(whole, key)
    assert value_differences(jax.device_get(carry.rollout.state), jax.device_get(expected.state)) == []
    assert (carry.rollout.key == expected.key).all()
    np.testing.assert_array_equal(carry.obs, whole.observe(expected.state, env.default_params))
    assert carry.is_valid.tolist() == [True] * 6
    assert not carry.running.lengths.any()
    assert (carry.running.left == 4).all()
    assert len(carry.obs.devices()) == devices


@pytest.mark.usefixtures("toys")
def test_the_reported_number_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "device_bytes", lambda _: 2_000_000)
    message = r"^num_envs 1,000,000 would take about .* at most [0-9,]+ fit\.$"
    with pytest.raises(NotEnoughMemoryError, match=message) as e:
        rollout("Counter-v0", num_envs=1_000_000, steps=3)
    fit = int(re.search(r"at most ([0-9,]+) fit", str(e.value))[1].replace(",", ""))  # pyright: ignore
    assert 1_000 < fit < 100_000
    assert rollout("Counter-v0", num_envs=fit, steps=3).steps == 3
    with pytest.raises(NotEnoughMemoryError):
        rollout("Counter-v0", num_envs=fit + 1, steps=3)


def test_what_is_recorded_takes_memory_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "device_bytes", lambda _: 2_000_000)
    check_memory(ENV, PARAMS, 1000, sharding("num_envs", 1000), recorded_bytes=100)
    with pytest.raises(NotEnoughMemoryError):
        check_memory(ENV, PARAMS, 1000, sharding("num_envs", 1000), recorded_bytes=1000)


def test_more_environments_than_int32_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "device_bytes", lambda _: None)
    check_memory(ENV, PARAMS, 2**31 - 1, sharding("num_envs", 1))
    with pytest.raises(InvalidArgumentError, match=r"^num_envs must be less than 2\*\*31, got 2,147,483,648\.$"):
        check_memory(ENV, PARAMS, 2**31, sharding("num_envs", 1))
