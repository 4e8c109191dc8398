"""What the kit announces, what it imports to do so, and what it needs."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

import envcore
import envcore_testing
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


@pytest.mark.slow
def test_the_kit_needs_no_command_line() -> None:
    code = """
        import sys
        sys.modules["typer"] = sys.modules["envcore_cli"] = None
        import envcore
        from envcore_testing import check_env
        check_env(*envcore.make("CartPole-v1"), num_steps=16)
    """
    done = subprocess.run([sys.executable, "-c", dedent(code)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_name_can_be_imported() -> None:
    assert set(envcore_testing.__all__) <= set(dir(envcore_testing))
    assert all(getattr(envcore_testing, name).__module__ for name in envcore_testing.__all__ if name != "RULES")
    with pytest.raises(AttributeError, match="module 'envcore_testing' has no attribute 'check'"):
        envcore_testing.check  # noqa: B018


def test_an_environment_that_does_not_conform_fails_an_assertion() -> None:
    assert issubclass(envcore_testing.ConformanceError, envcore.EnvcoreError)
    assert issubclass(envcore_testing.ConformanceError, AssertionError)
