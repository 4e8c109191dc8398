"""What the kit announces, what it imports to do so, and what it needs."""

from __future__ import annotations

import subprocess
import sys

import envcore
import pytest
from envcore_testing.plugin import envcore_commands


def test_the_installed_kit_is_announced() -> None:
    (kit,) = [each for each in envcore.registry.plugins if each.distribution == "envcore-testing"]
    assert kit.status == "loaded"
    assert [command.name for command in kit.specs] == ["check"]
    assert kit.specs == tuple(envcore_commands())


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import envcore_testing, envcore_testing.plugin", {"jax", "numpy", "rich", "typer"}),
        ("import envcore_testing.commands", {"jax", "numpy"}),
    ],
)
def test_announcing_and_options_import_nothing_heavy(statement: str, unwanted: set[str]) -> None:
    code = f"import sys; {statement}; print(sorted({unwanted} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
