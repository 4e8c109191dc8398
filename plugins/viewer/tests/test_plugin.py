"""What the viewer announces, and what it imports to do so."""

from __future__ import annotations

import subprocess
import sys

import envcore
import pytest
from envcore_viewer.plugin import envcore_commands


def test_the_installed_viewer_is_announced() -> None:
    (viewer,) = [each for each in envcore.registry.plugins if each.distribution == "envcore-viewer"]
    assert viewer.status == "loaded"
    assert [command.name for command in viewer.specs] == ["render", "play"]
    assert viewer.specs == tuple(envcore_commands())


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import envcore_viewer, envcore_viewer.plugin", {"jax", "numpy", "PIL", "rich", "typer"}),
        ("import envcore_viewer.commands", {"jax", "numpy", "PIL"}),
    ],
)
def test_announcing_and_options_import_nothing_heavy(statement: str, unwanted: set[str]) -> None:
    code = f"import sys; {statement}; print(sorted({unwanted} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
