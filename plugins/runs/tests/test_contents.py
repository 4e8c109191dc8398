"""What is behind the name of a policy."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from envcore_runs.contents import digest_of_policy


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "file"), [("mine:act", "mine.py"), ("parts.mine:act", "parts/mine.py")])
def test_the_source_of_a_function(here: Path, name: str, file: str) -> None:
    (here / "parts").mkdir()
    (here / "parts" / "__init__.py").write_text("raise SystemExit")
    (here / file).write_text("raise SystemExit")
    first = digest_of_policy(name)
    assert first is not None
    assert digest_of_policy(name) == first
    (here / file).write_text("raise SystemExit  # another")
    assert digest_of_policy(name) not in (first, None)
    assert "mine" not in sys.modules  # it was not imported


def test_the_agent_of_a_run(here: Path) -> None:
    run = here / "run"
    run.mkdir()
    (run / "run.json").write_text("{}")
    (run / "checkpoint.safetensors").write_bytes(b"1")
    first = digest_of_policy("trained:run")
    (run / "curve.csv").write_text("")
    assert digest_of_policy(f"trained:{run}") == first is not None
    (run / "checkpoint.safetensors").write_bytes(b"2")
    assert digest_of_policy("trained:run") not in (first, None)


@pytest.mark.parametrize("name", ["random", "trained", "trained:", "absent:act", ":", "a..b:c", "x:\0", "x:" * 99])
def test_there_is_no_file(here: Path, name: str) -> None:
    assert digest_of_policy(name) is None
