"""Fixtures that run the command `envcore` in the process of the tests."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from envcore import registry
from envcore.plugins import PluginRecord
from envcore.registration import Registry
from envcore_cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def plugins() -> tuple[PluginRecord, ...]:
    """The plugins that are installed for `run`; a test module may override this fixture."""
    return ()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], plugins: tuple[PluginRecord, ...]) -> Run:
    """Runs `envcore ARGS` and returns exit status, output and errors. Only the toy environments are installed."""
    monkeypatch.setattr("envcore.registration.discover", lambda: plugins)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("JAX_NUM_CPU_DEVICES", "2")  # those of the tests
    monkeypatch.setattr(registry, "__dict__", vars(Registry()))
    registry.register("Counter-v0", "toy:Counter", summary="Count to three.", source="made up")
    registry.register("Deck-v0", "toy:Deck", summary="Guess [/red] the cards.")
    registry.register("Broken-v0", "test_cli_broken:Broken")

    def run(*args: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["envcore", *args])
        with pytest.raises(SystemExit) as exit_:
            main()
        out, err = capsys.readouterr()
        return int(exit_.value.code or 0), out, err

    return run
