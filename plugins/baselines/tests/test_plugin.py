"""What the baselines announce, and what is imported for it."""

from __future__ import annotations

import subprocess
import sys

import envcore
import pytest
from envcore_baselines.plugin import envcore_commands


def test_the_installed_baselines_are_announced() -> None:
    (found,) = [each for each in envcore.registry.plugins if each.distribution == "envcore-baselines"]
    assert (found.status, found.specs) == ("loaded", ())
    assert [command.name for command in found.commands] == ["train", "evaluate"]
    assert found.commands == tuple(envcore_commands())


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import envcore_baselines, envcore_baselines.plugin", {"jax", "numpy", "optax", "rich", "typer"}),
        ("import envcore_baselines.commands", {"jax", "numpy", "optax", "matplotlib"}),
    ],
)
def test_announcing_and_options_import_nothing_heavy(statement: str, unwanted: set[str]) -> None:
    code = f"import sys; {statement}; print(sorted({unwanted} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
