from __future__ import annotations

import datetime
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tool_modules import TOOLS, load_tool

ROOT = TOOLS.parent
DAY = datetime.date(2026, 12, 1)


CITATION = 'cff-version: 1.2.0\nversion: "0.2.0" # of envcore\ntitle: "A version: of what?"\n'


@pytest.fixture(scope="module")
def release() -> Any:
    return load_tool("release/__main__.py")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of the core and one suite."""
    for folder, name in (("core", "envcore"), ("packages/walks", "envcore-walks")):
        (tmp_path / folder).mkdir(parents=True)
        version = 'dynamic = ["version"]' if name == "envcore" else 'version = "0.2.0"'
        (tmp_path / folder / "pyproject.toml").write_text(f'[project]\nname = "{name}"\n{version}\n')
        (tmp_path / folder / "CHANGELOG.md").write_text(
            "# Changelog\n\n## 0.3.0 (unreleased)\n\n- New.\n\n## 0.2.0 (2026-01-01)\n\n- Old.\n"
        )
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github" / "CITATION.cff").write_text(CITATION)
    (tmp_path / "core" / "src" / "envcore").mkdir(parents=True)
    (tmp_path / "core" / "src" / "envcore" / "version.py").write_text('"""The version."""\n\n__version__ = "0.2.0"\n')
    return tmp_path


@pytest.mark.parametrize(
    ("name", "place", "line"),
    [
        ("envcore", "core/src/envcore/version.py", '__version__ = "0.3.0"'),
        ("envcore-walks", "packages/walks/pyproject.toml", 'version = "0.3.0"'),
    ],
)
def test_a_release_sets_the_version_and_dates_its_changes(
    release: Any, repository: Path, name: str, place: str, line: str
) -> None:
    changes = release.prepare(repository, name, "0.3.0", DAY)
    assert line in changes[repository / place].splitlines()
    (log,) = [text for path, text in changes.items() if path.name == "CHANGELOG.md"]
    assert log == "# Changelog\n\n## 0.3.0 (2026-12-01)\n\n- New.\n\n## 0.2.0 (2026-01-01)\n\n- Old.\n"


def test_the_core_s_release_is_what_is_cited(release: Any, repository: Path) -> None:
    path = repository / ".github" / "CITATION.cff"
    assert path not in release.prepare(repository, "envcore-walks", "0.3.0", DAY)
    cited = (
        'cff-version: 1.2.0\nversion: "0.3.0" # of envcore\ndate-released: "2026-12-01"\ntitle: "A version: of what?"\n'
    )
    assert release.prepare(repository, "envcore", "0.3.0", DAY)[path] == cited
    path.write_text(cited)  # the next release replaces the date
    later = release.prepare(repository, "envcore", "0.4.0", DAY + datetime.timedelta(days=9))[path]
    assert later == cited.replace("0.3.0", "0.4.0").replace("12-01", "12-10")
    path.write_text("cff-version: 1.2.0\n")
    with pytest.raises(release.ReleaseError, match=r"CITATION\.cff has no version"):
        release.prepare(repository, "envcore", "0.3.0", DAY)


def test_the_citation_is_of_the_core_s_last_section_of_changes() -> None:
    citation = (ROOT / ".github" / "CITATION.cff").read_text()
    cited = dict(re.findall(r'^(version|date-released): "([^"]*)"', citation, re.MULTILINE))
    changes = (ROOT / "core" / "CHANGELOG.md").read_text()
    sections = re.findall(r"^## (\S+) \((.*)\)$", changes, re.MULTILINE)
    released = [section for section in sections if section[1] != "unreleased"]
    if released:
        assert (cited["version"], cited["date-released"]) == released[0]
    else:
        assert cited == {"version": sections[0][0]}


@pytest.mark.parametrize(
    ("name", "version", "log", "message"),
    [
        ("envcore-runs", "0.3.0", None, "there is no distribution 'envcore-runs'; there are: envcore, envcore-walks"),
        ("envcore-walks", "0.2.0", None, "0.2.0 is not newer than 0.2.0"),
        ("envcore-walks", "next", None, "'next' is not a version"),
        ("envcore-walks", "0.3.0", "# Changelog\n\n## 0.2.0 (2026-01-01)\n", "does not begin with a section"),
        ("envcore-walks", "0.3.0", "# Changelog\n\n## 0.3.0 (unreleased)\n\n## 0.2.0 (2026-01-01)\n", "says nothing"),
    ],
)
def test_what_cannot_be_released(
    release: Any, repository: Path, name: str, version: str, log: str | None, message: str
) -> None:
    if log is not None:
        (repository / "packages" / "walks" / "CHANGELOG.md").write_text(log)
    with pytest.raises(release.ReleaseError, match=message):
        release.prepare(repository, name, version, DAY)


def test_a_dry_run_says_what_would_happen_and_changes_nothing(repository: Path) -> None:
    command = [
        sys.executable,
        TOOLS / "release",
        "envcore-walks",
        "0.3.0",
        "--root",
        repository,
        "--date",
        "2026-12-01",
    ]
    before = {path: path.read_text() for path in repository.rglob("*.*") if path.is_file()}
    said = subprocess.run([*command, "--dry-run"], capture_output=True, text=True, check=True).stdout
    assert before == {path: path.read_text() for path in repository.rglob("*.*") if path.is_file()}
    assert said.splitlines()[:2] == ["packages/walks/pyproject.toml: changed", "packages/walks/CHANGELOG.md: changed"]
    assert "git tag envcore-walks-v0.3.0" in said
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == said
    assert 'version = "0.3.0"' in (repository / "packages" / "walks" / "pyproject.toml").read_text()


def test_every_distribution_of_ours_can_be_prepared(release: Any) -> None:
    for pattern in ("core", "packages/*", "plugins/*"):
        for path in ROOT.glob(f"{pattern}/CHANGELOG.md"):
            name = "envcore" if path.parent.name == "core" else f"envcore-{path.parent.name}"
            assert release.prepare(ROOT, name, "99.0", DAY)
