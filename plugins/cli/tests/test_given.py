"""What a command was given, for the processes that do the same."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from envcore_cli.given import given_to
from envcore_cli.options import Cache, Coordinator, NumProcesses, Params, Policy, ProcessId, Seed
from envcore_runs import request
from typer.testing import CliRunner


def described(*args: str) -> Any:
    """The request of a command that is given these arguments."""
    app, found = typer.Typer(), list[Any]()

    @app.command()
    def walk(
        context: typer.Context,
        env_id: str,
        set_: Params = None,
        seed: Seed = 0,
        policy: Policy = "random",
        steps: int | None = None,
        sample: Annotated[bool, typer.Option("--sample")] = False,
        coordinator: Coordinator = None,
        num_processes: NumProcesses = None,
        process_id: ProcessId = None,
        cache: Cache = None,
    ) -> None:
        found.append(request.described(given_to(context)))

    result = CliRunner().invoke(app, args)
    assert result.exit_code == 0, result.output
    return found[0]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("A", "A --seed 0"),
        ("A --set x=1.0 --set y=2", "A --set y=2 --set x=1.00"),
        ("A --set x=true", "--set x=True A"),
        ("A --process-id 0 --cache a", "A --coordinator b:1 --process-id 1"),
    ],
)
def test_what_means_the_same_is_the_same(first: str, second: str) -> None:
    assert request.difference([described(*first.split()), described(*second.split())]) == ""


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("A", "B", "B, and process 0 A"),
        ("A", "A --seed 1", "--seed 1, and process 0 --seed 0"),
        ("A --steps 5", "A", "no --steps, and process 0 --steps 5"),
        ("A", "A --sample", "--sample, and process 0 no --sample"),
        ("A --set x=1", "A --set x=2", "--set x=2, and process 0 --set x=1"),
        ("A --set x=1", "A", "no --set x, and process 0 --set x=1"),
        ("A --set x=1", "A --set x='1'", "--set x='1', and process 0 --set x=1"),
        ("A --set x=none", "A --set x='None'", "--set x='None', and process 0 --set x=None"),
        ("A --set x=1e999", "A --set x=2e999", "--set x=2e999, and process 0 --set x=1e999"),
        ("A --num-processes 2", "A --num-processes 3", "--num-processes 3, and process 0 --num-processes 2"),
    ],
)
def test_a_difference_is_named(first: str, second: str, message: str) -> None:
    found = [described(*text.split()) for text in (first, first, second)]
    assert request.difference(found) == f"process 2 was given {message}: give all processes the same command."


def test_the_file_of_a_policy_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file, found = tmp_path / "mine.py", list[Any]()
    for content in ("a = 1", "a = 1", "a = 2"):
        file.write_text(content)
        found.append(described("A", "--policy", "mine:act"))
    assert request.difference(found[:2]) == ""
    assert "process 2 was given --policy mine:act from a file with SHA-256 " in request.difference(found)
