"""Which tests a change affects, and which jobs check it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tool_modules import TOOLS, load_tool

AFFECTED = load_tool("affected/__main__.py")
FOUND: dict[str, Any] = AFFECTED.distributions()


def affected_by(*files: str) -> set[str]:
    return AFFECTED.affected_distributions(AFFECTED.changed_distributions(files, FOUND), FOUND)


@pytest.mark.parametrize(
    "file", ["core/src/envcore/engine/stepping.py", "plugins/testing/README.md", "tests/support/golden.py", "uv.lock"]
)
def test_what_all_tests_use_affects_all(file: str) -> None:
    assert affected_by(file) == set(FOUND)


def test_a_distribution_affects_those_whose_tests_install_it() -> None:
    assert affected_by("plugins/example/src/a.py") == {"envcore-example"}
    assert affected_by("plugins/ray/src/a.py") == {"envcore-ray"}
    assert affected_by("plugins/baselines/src/a.py") == {"envcore-baselines", "envcore-ray"}
    minatar = affected_by("packages/minatar/src/a.py")
    assert minatar >= {"envcore-minatar", "envcore-adapters", "envcore-gymnax"}
    assert not minatar & {"envcore-misc", "envcore-runs", "envcore-viewer"}


def test_a_page_affects_no_distribution() -> None:
    assert affected_by("README.md", "tools/site/pages/guide.md", "packages-and-plugins.md") == set()
    assert AFFECTED.tests_of(set(), FOUND) == ["tests"]


def test_a_small_change_has_few_jobs() -> None:
    def steps(*files: str) -> list[str]:
        changed = AFFECTED.changed_distributions(files, FOUND)
        jobs = AFFECTED.jobs_of_a_change(changed, affected_by(*files), FOUND)
        return [job["steps"] for job in jobs]

    of_a_page = ["lock install lint types contracts", "browser tests"]
    assert steps("README.md") == of_a_page
    assert steps("plugins/example/src/a.py") == [*of_a_page, "alone", "wheels"]
    assert {"lowest", "newest"} <= set(steps("packages/misc/src/a.py")) & set(steps("plugins/cli/src/a.py"))
    assert steps("core/src/envcore/a.py") == [*of_a_page, "alone", "wheels", "lowest", "newest", "clients"]


def test_changes_count_from_where_main_was_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    def commit(name: str) -> None:
        (tmp_path / name).touch()
        git("add", name)
        git("commit", "-m", name)

    git("init", "-b", "main")
    commit("first")
    git("switch", "-c", "change")
    commit("committed")
    git("switch", "main")
    commit("by_others")
    git("switch", "change")
    (tmp_path / "untracked").touch()
    (tmp_path / "committed").write_text("a")
    monkeypatch.setattr(AFFECTED, "ROOT", tmp_path)
    assert AFFECTED.changed_files("main") == ["committed", "untracked"]
    with pytest.raises(SystemExit, match="error: no history leads from 'nonsense' to HEAD"):
        AFFECTED.changed_files("nonsense")


def test_it_needs_no_environment() -> None:
    command = [sys.executable, "-I", "-S", TOOLS / "affected", "--all"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "tests"
