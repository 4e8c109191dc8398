"""What a command prints reaches standard output, or the command fails: every command and subcommand of the project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from envcore import CommandSpec, registry
from envcore_cli import app, commands

# Each command in a child, which need not import everything again; its standard output is changed as by a shell.
DRIVER = """
import json, os, sys
import envcore_cli.catalogue, rich.table, typer.rich_utils
from envcore import CommandSpec, registry
from envcore_cli import app, commands, main
for each in registry.announced(CommandSpec).values():
    commands.load(each)
where, cases = json.loads(sys.argv[1])
for args in cases:
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(writer, 2)
        os.close(1)
        assert os.open(where, os.O_WRONLY) == 1
        sys.argv = ["envcore", *args]
        sys.exit(main())
    os.close(writer)
    with open(reader) as errors:
        text = errors.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(json.dumps([args, status, text]), flush=True)
"""
WHERE = {"/dev/full": "No space left on device"}
SMALL = ["total_steps=128", "num_envs=4", "rollout_steps=16", "minibatches=2", "hidden=[8]"]
SETTINGS = [part for setting in SMALL for part in ("--setting", setting)]
EXPERIMENTS = ["--only", "bandit/0", "--only", "bandit_noise/3", "--only", "memory_len/0"]  # of three tags

FAST = {
    "list": [["list"], ["list", "bsuite/catch"]],
    "plugins": [["plugins"]],
    "info": [["info", "CartPole-v1"]],
    "train": [["train", "ppo", "CartPole-v1", "--show"]],
}
"""Command lines that print, by command."""
SLOW = {
    "check": [["check", "CartPole-v1"]],
    "rollout": [["rollout", "CartPole-v1", "--num-envs", "4", "--steps", "8"]],
    "train": [["train", "ppo", "CartPole-v1", "--out", "agents", *SETTINGS]],
    "evaluate": [["evaluate", "agents", "--episodes", "2"]],
    "bsuite run": [["bsuite", "run", "random", "--out", "scores", *EXPERIMENTS]],
    "bsuite score": [["bsuite", "score", "scores"]],
    "bsuite radar": [["bsuite", "radar", "scores", "--out", "radar.png"]],
    "render": [["render", "CartPole-v1", "--out", "render.gif", "--steps", "4", "--height", "32"]],
    "gallery": [["gallery", "CartPole-v1", "--out", "gallery", "--height", "32"]],
    "sweep": [["sweep", "ppo", "CartPole-v1", "--out", "sweep", *SETTINGS]],
}
"""More of them; the results of a command serve those after it."""
WITHOUT_OUTPUT = {"play"}
"""It prints on a terminal alone, and says so otherwise."""


def failures(where: str, cases: list[list[str]], folder: Path, **variables: str) -> Iterator[tuple[list[str], Any]]:
    """Runs commands, one after the other, and yields the exit status and the errors of each."""
    process = subprocess.run(
        [sys.executable, "-c", DRIVER, json.dumps([where, cases])],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    found = [json.loads(line) for line in process.stdout.splitlines()]
    assert [args for args, *_ in found] == cases
    yield from ((args, tuple(end)) for args, *end in found)


def every_command() -> dict[str, bool]:
    """All commands and subcommands, such as "bsuite score"; True for those with subcommands."""
    own: Any = typer.main.get_command(app.app)
    found: dict[str, Any] = dict(own.commands)
    found |= {name: commands.load(each) for name, each in registry.announced(CommandSpec).items()}
    for name, command in list(found.items()):
        found |= {f"{name} {sub}": each for sub, each in getattr(command, "commands", {}).items()}
    return {name: hasattr(command, "commands") for name, command in found.items()}


def expected(where: str) -> tuple[int, str]:
    return 1, f"error: cannot write to standard output: {WHERE[where]}.\n"


def test_no_command_is_forgotten() -> None:
    assert {name for name, has_subcommands in every_command().items() if not has_subcommands} == {
        *FAST,
        *SLOW,
        *WITHOUT_OUTPUT,
    }


@pytest.mark.parametrize("where", WHERE)
def test_what_cannot_be_printed_is_one_line(where: str, tmp_path: Path) -> None:
    cases = [["--version"], [], ["render", "--help"], *FAST["list"], *FAST["train"]]
    for args, end in failures(where, cases, tmp_path, PYTHONUNBUFFERED="1"):
        assert end == expected(where), args


@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("where", WHERE)
def test_what_cannot_be_printed_is_one_line_for_all(where: str, unbuffered: str, tmp_path: Path) -> None:
    every = every_command()
    bare = [["--version"], ["--help"], *([name] for name, has_subcommands in every.items() if has_subcommands)]
    cases = [*bare, *([*name.split(), "--help"] for name in every), *(args for each in FAST.values() for args in each)]
    for args, end in failures(where, cases, tmp_path, PYTHONUNBUFFERED=unbuffered):
        assert end == expected(where), args


@pytest.mark.slow
@pytest.mark.long
def test_results_that_cannot_be_printed_are_one_line(tmp_path: Path) -> None:
    where = "/dev/full"
    for args, (status, errors) in failures(where, [args for each in SLOW.values() for args in each], tmp_path):
        if args[0] == "sweep":  # Ray logs a warning first
            errors = errors.splitlines(keepends=True)[-1]
        assert (status, errors) == expected(where), args
    assert {"agents", "gallery", "radar.png", "render.gif", "scores", "sweep"} <= {
        each.name for each in tmp_path.iterdir()
    }
