"""A release of a copy of this repository, pushed to a folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*command: str | Path, cwd: Path) -> str:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.slow
def test_release(tmp_path: Path) -> None:
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    run("git", "clone", "--quiet", "--bare", ROOT, origin, cwd=tmp_path)
    run("git", "clone", "--quiet", origin, clone, cwd=tmp_path)
    run("git", "checkout", "--quiet", "-B", "main", cwd=clone)
    shutil.copytree(ROOT / "tools" / "release", clone / "tools" / "release", dirs_exist_ok=True)
    for name in ("user.name", "user.email"):
        run("git", "config", name, "somebody", cwd=clone)
    log = clone / "packages/misc/CHANGELOG.md"
    log.write_text("# Changelog\n\n## 9.9.9 (unreleased)\n\n- One thing.\n")
    run("git", "commit", "--quiet", "--all", "--message", "Change one thing", cwd=clone)
    assert "envcore-misc 9.9.9" in run(sys.executable, "tools/release", "--dry-run", cwd=clone)
    tag = run(sys.executable, "tools/release", cwd=clone).splitlines()[-1]
    assert tag in run("git", "tag", cwd=origin)
    assert "(unreleased)" not in log.read_text()
    assert 'version = "9.9.9"' in (clone / "packages/misc/pyproject.toml").read_text()
    files = run(sys.executable, "tools/release", "--files", cwd=clone).splitlines()
    assert "dist/envcore_misc-9.9.9-py3-none-any.whl" in files
