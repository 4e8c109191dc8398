"""Policies: functions of the user, and policies that distributions announce."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from envcore import registry
from envcore.errors import InvalidArgumentError
from envcore.plugins import PluginRecord
from envcore.registration import Registry
from envcore.specs import PolicySpec
from envcore.wrappers import ActionMaskObservation, Batched
from envcore_runs.policies import batch_policy, find_player
from toy import Counter

ENV, PARAMS, KEY = Counter(), Counter().default_params, jax.random.key(0)
OBS = jnp.zeros(4)
ANNOUNCED = """
import jax.numpy as jnp

calls = []

class Counts:
    '''Counts in every `period`-th step.'''

    def __init__(self, period):
        self.period = period

    def start_memory(self):
        return jnp.int32(0)

    def act(self, memory, obs, key):
        return (memory % self.period == 0).astype(jnp.int32), memory + 1

class Idle:
    def start_memory(self):
        return ()

    def act(self, memory, obs, key):
        return jnp.int32(0), memory

def counts(env_id, env, params, argument):
    calls.append((env_id, env, params))
    return Counts(int(argument or 1))

def idle(env_id, env, params, argument):
    return Idle()

def fails(env_id, env, params, argument):
    raise ValueError("no such thing")
"""


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two distributions that announce policies."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "announced_policies", raising=False)
    (tmp_path / "announced_policies.py").write_text(ANNOUNCED)
    good = {name: f"announced_policies:{name}" for name in ("counts", "idle", "fails")}
    records = (
        record("good", {**good, "twice": "one:f", "gone": "not_there:f"}),
        record("other", {"twice": good["counts"]}),
    )
    monkeypatch.setattr("envcore.registration.discover", lambda: records)
    monkeypatch.setattr(registry, "__dict__", vars(Registry()))


def record(distribution: str, policies: dict[str, str]) -> PluginRecord:
    specs = tuple(PolicySpec(name, "", target) for name, target in policies.items())
    return PluginRecord(distribution, "1.0", "main", distribution, "loaded", specs)


def actions(name: str, count: int) -> list[int]:
    player, found = find_player(name, "Counter-v0", ENV, PARAMS), []
    memory = player.start_memory()
    for _ in range(count):
        action, memory = player.act(memory, OBS, KEY)
        found.append(int(action))
    return found


def test_an_announced_policy_has_a_memory_and_gets_what_follows_the_colon() -> None:
    assert actions("counts", 4) == [1, 1, 1, 1]
    assert actions("counts:3", 7) == [1, 0, 0, 1, 0, 0, 1]
    assert actions("other:twice:2", 3) == actions("good:counts:2", 3) == [1, 0, 1]
    import announced_policies  # pyright: ignore[reportMissingImports]

    assert announced_policies.calls == [("Counter-v0", ENV, PARAMS)] * 4


def test_a_batch_has_no_memory() -> None:
    policy = batch_policy(find_player("idle", "Counter-v0", ENV, PARAMS), Batched(ENV, 3), PARAMS)
    assert policy(None, jnp.zeros((3, 4)), KEY).tolist() == [0, 0, 0]
    with pytest.raises(InvalidArgumentError, match="policy counts has a memory, but a rollout does not carry"):
        batch_policy(find_player("counts", "Counter-v0", ENV, PARAMS), Batched(ENV, 3), PARAMS)


@dataclasses.dataclass(frozen=True)
class Waiting(Counter):
    """The counter, whose action 1 is legal at counts above 0 only."""

    def action_mask(self, state: Any, params: Any) -> jax.Array:
        return jnp.stack([True, state.count > 0])


def test_legal_actions() -> None:
    player, again = (find_player("legal", "Waiting-v0", Waiting(), PARAMS) for _ in range(2))
    assert player == again
    assert player.env == ActionMaskObservation(Waiting())
    assert find_player("legal", "Waiting-v0", player.env, PARAMS) == player
    batch = Batched(player.env, 200)
    _, state = batch.reset(KEY)
    policy = batch_policy(player, batch, PARAMS)
    for count, actions in ((0, {0}), (1, {0, 1})):
        obs = batch.observe(state.replace(count=jnp.full(200, count)), batch.default_params)
        assert set(policy(None, obs, KEY).tolist()) == actions


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "gone",
            "the policy good:gone points at 'not_there:f', which cannot be imported: ModuleNotFoundError: ",
        ),
        ("fails:x", "policy fails fails: ValueError: no such thing"),
        (
            "twice:x",
            "the policy 'twice' is announced by several distributions: use 'good:twice' or 'other:twice'.",
        ),
        (
            "count",
            "policy must be random, legal, .*counts, .*idle, .* or MODULE:FUNCTION, as in .*, got 'count'",
        ),
    ],
)
def test_what_cannot_be_found(name: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        find_player(name, "Counter-v0", ENV, PARAMS)
