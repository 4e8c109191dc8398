from __future__ import annotations

import pytest
from command_line import plugins as plugins
from command_line import run as run
from envcore import registry
from envcore.registration import Registry
from envcore_runs import run as run_module


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two toy environments are installed, and nothing else."""
    monkeypatch.setattr("envcore.registration.discover", lambda: ())
    monkeypatch.setattr(registry, "__dict__", vars(Registry()))
    registry.register("Counter-v0", "toy:Counter")
    registry.register("Deck-v0", "toy:Deck")


@pytest.fixture
def chunks_of_16_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The chunks of a rollout of six environments."""
    monkeypatch.setattr(run_module, "_FEWEST", 16)
    monkeypatch.setattr(run_module, "_CHUNK", 16 * 6)
