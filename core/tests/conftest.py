from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from envcore import registry
from envcore.cli import interrupt, main
from envcore.specs import EnvSpec

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `envcore ARGS` and returns exit status, output and errors. Only the toy environments are installed."""
    shared = registry.Registry()
    monkeypatch.setattr(interrupt, "install", lambda: None)  # Ctrl-C is pytest's
    monkeypatch.setattr(registry, "discover", lambda *args: ())
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(registry, "_SHARED", shared)
    shared.register(
        EnvSpec("Counter-v0", "toy:Counter", summary="Count to three.", source="made up"),
        EnvSpec("Deck-v0", "toy:Deck", summary="Guess [/red] the cards."),
        EnvSpec("Broken-v0", "test_cli_broken:Broken"),
    )

    def run(*args: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["envcore", *args])
        with pytest.raises(SystemExit) as exit_:
            main()
        out, err = capsys.readouterr()
        return int(exit_.value.code or 0), out, err

    return run
