"""A copy of the template works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tool_modules import TOOLS


def run(folder: Path, *arguments: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": "src"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=check)


def test_suite_of_your_own(tmp_path: Path) -> None:
    run(tmp_path, TOOLS / "new_env", "my-suite", "IceRink", "IceRink-v0")
    assert 'name = "my-suite"' in (tmp_path / "my-suite" / "pyproject.toml").read_text()
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", "rules or picture")
    done = run(tmp_path / "my-suite", "-m", "pytest", *options, "tests/test_ice_rink.py", check=False)
    assert done.returncode == 0, done.stdout


def test_bad_name_is_reported(tmp_path: Path) -> None:
    done = run(tmp_path, TOOLS / "new_env", "suite", "ice_rink", "IceRink-v0", check=False)
    assert "write it like FourRooms" in done.stderr
