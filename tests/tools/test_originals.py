"""Trained agents play the originals' own programs as well as they play ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import envcore_baselines
import pytest
from envcore_testing.numerics import numerics
from tool_modules import TOOLS, load_tool


@pytest.fixture
def originals() -> Iterator[Any]:
    with numerics():  # flax relies on it
        yield load_tool("agents/originals.py")


@pytest.mark.parametrize(
    ("env_id", "episodes"),
    [
        ("Catch-bsuite", 20),
        pytest.param("CartPole-v1", 3, marks=pytest.mark.slow),
        pytest.param("Freeway-MinAtar", 3, marks=pytest.mark.slow),
    ],
)
def test_agents_earn_in_the_original_what_they_earn_here(originals: Any, env_id: str, episodes: int) -> None:
    row = originals.row_of(env_id, episodes)
    assert row["mean"] == pytest.approx(row["mean_in_envcore"], abs=5 * row["std_in_envcore"])
    assert row["z"] is None or abs(row["z"]) < 4


@pytest.mark.slow
def test_every_agent_whose_original_runs_here_was_played(originals: Any) -> None:
    rows = {row["id"]: row for row in json.loads((TOOLS / "site/data/originals.json").read_text())}
    assert list(rows) == list(originals.ORIGINALS)
    for env_id, row in rows.items():
        found = (row["mean_in_envcore"], row["std_in_envcore"], row["episodes_in_envcore"])
        agent = envcore_baselines.load(env_id)
        assert found == (agent.mean_return, agent.std_return, agent.episodes), "play it again: the agent is another one"
