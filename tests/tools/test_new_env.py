"""Copies of the template work."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tool_modules import TOOLS


def new_env(*arguments: str | Path, cwd: Path) -> str:
    command = [sys.executable, TOOLS / "new_env", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout


def passed(suite: Path, test: str, *options: str) -> None:
    """Runs a test of a suite that is not installed."""
    environment = {**os.environ, "PYTHONPATH": str(suite / "src")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        *options,
        f"tests/{test}",
    ]
    done = subprocess.run(command, cwd=suite, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_environment_of_a_suite(tmp_path: Path) -> None:
    shutil.copytree(TOOLS.parent / "plugins" / "example", tmp_path / "suite")
    told = new_env("suite", "IceRink", "IceRink-v0", cwd=tmp_path)
    assert 'entry_point="envcore_example.ice_rink:IceRink"' in told
    passed(tmp_path / "suite", "test_ice_rink.py", "-k", "rules")


def test_suite_of_your_own(tmp_path: Path) -> None:
    new_env("my-suite", "IceRink", "IceRink-v0", cwd=tmp_path)
    assert 'name = "my-suite"' in (tmp_path / "my-suite" / "pyproject.toml").read_text()
    passed(tmp_path / "my-suite", "test_ice_rink.py", "-k", "rules or picture")


def test_bad_name_is_reported(tmp_path: Path) -> None:
    command = [sys.executable, TOOLS / "new_env", "suite", "ice_rink", "IceRink-v0"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "write it like FourRooms" in done.stderr
