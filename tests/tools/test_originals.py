"""Trained agents in the originals' own programs: what plays them, and the table that is kept."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import envcore_baselines
import jax
import jax.numpy as jnp
import pytest
from envcore_baselines import trained
from tool_modules import TOOLS, load_tool


@pytest.fixture(scope="module")
def originals() -> Any:
    return load_tool("agents/originals.py")


@pytest.mark.parametrize(
    ("env_id", "episodes"),
    [
        ("Catch-bsuite", 20),
        ("MemoryChain-bsuite", 20),
        pytest.param("CartPole-v1", 3, marks=pytest.mark.slow),
        pytest.param("Freeway-MinAtar", 3, marks=pytest.mark.slow),
    ],
)
def test_agents_earn_in_the_original_what_they_earn_here(originals: Any, env_id: str, episodes: int) -> None:
    row = originals.row_of(env_id, episodes)
    assert row["mean"] == pytest.approx(row["mean_in_envcore"], abs=5 * row["std_in_envcore"])
    assert row["z"] is None or abs(row["z"]) < 4


def test_an_agent_that_learned_nothing_earns_little(originals: Any) -> None:
    agent = envcore_baselines.load("Catch-bsuite")
    lazy = dataclasses.replace(agent, learner=Lazy(agent.learner))
    returns = originals.returns_in_original(lazy, lambda seed: originals.bsuite("Catch-bsuite", seed), 40)
    assert set(returns) == {-1.0, 1.0}  # the ball falls into one of five columns
    assert returns.mean() < 0


@pytest.fixture(autouse=True)
def standard_promotion() -> Iterator[None]:
    """JAX's default promotion of dtypes and ranks: flax relies on it."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


class Lazy:
    """A learner whose agents always stay."""

    def __init__(self, learner: Any):
        self.env, self.start_memory = learner.env, learner.start_memory

    def act(self, agent: Any, memory: Any, obs: Any, key: Any, greedy: bool) -> Any:
        return jnp.int32(1), memory


@pytest.mark.slow
def test_the_table_has_every_agent_whose_original_runs_here(originals: Any) -> None:
    rows = {row["id"]: row for row in json.loads((TOOLS / "site/data/originals.json").read_text())}
    assert list(rows) == list(originals.ORIGINALS)
    for env_id, row in rows.items():
        agent = envcore_baselines.load(env_id)
        found = (row["mean_in_envcore"], row["std_in_envcore"], row["episodes_in_envcore"])
        assert found == (agent.mean_return, agent.std_return, agent.episodes), "play it again: the agent is another one"
        assert abs(row["z"] or 0.0) < 4
        assert row["z"] is not None or row["mean"] == pytest.approx(row["mean_in_envcore"], abs=1e-3)
    without = {name for name in trained.names() if name not in rows}
    assert all(name.endswith("-misc") for name in without)
