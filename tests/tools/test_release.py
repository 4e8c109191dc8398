from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tool_modules import TOOLS

ROOT = TOOLS.parent
LOG = "# Changelog\n\n## 0.3.0 (unreleased)\n\n- New.\n\n## 0.2.0 (2026-01-01)\n\n- Old.\n"
CITATION = 'cff-version: 1.2.0\nversion: "0.2.0" # of envcore\ntitle: "A version: of what?"\n'
CORE, WALKS = Path("core"), Path("packages/walks")


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def release(repository: Path, *options: str, day: str = "2026-12-01") -> str:
    """What the command prints, or its one line of error."""
    command = [sys.executable, TOOLS / "release", "--root", repository, "--date", day, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout
    assert re.fullmatch("error: .*\n", done.stderr), done.stderr
    return done.stderr.removeprefix("error: ").strip()


def change(repository: Path, path: Path | str, text: str) -> None:
    """Commits a file."""
    (repository / path).parent.mkdir(parents=True, exist_ok=True)
    (repository / path).write_text(text)
    git(repository, "add", ".")
    git(repository, "commit", "--message", "A change.")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone of a repository of the core and one suite, of which nothing has been released."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Nobody")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "nobody@example.org")
    git(tmp_path, "init", "--bare", "--initial-branch", "main", "origin")
    git(tmp_path, "clone", "origin", "clone")
    clone = tmp_path / "clone"
    for folder, name, rest in (
        (CORE, "toys", 'dynamic = ["version"]\ndependencies = ["jax"]'),
        (WALKS, "toys-walks", 'version = "0.2.0"\ndependencies = ["jax", "toys>=0.2,<1"]'),
    ):
        (clone / folder).mkdir(parents=True)
        (clone / folder / "pyproject.toml").write_text(f'[project]\nname = "{name}"\n{rest}\n')
        (clone / folder / "CHANGELOG.md").write_text(LOG)
    (clone / "pyproject.toml").write_text('[project]\nname = "workspace"\nversion = "0"\nrequires-python = ">=3.11"\n')
    (clone / ".github").mkdir()
    (clone / ".github" / "CITATION.cff").write_text(CITATION)
    package = clone / "core" / "src" / "envcore"
    package.mkdir(parents=True)
    (package / "version.py").write_text('"""The version."""\n\n__version__ = "0.2.0"\n')
    subprocess.run(["uv", "lock", "--quiet"], cwd=clone, check=True)
    change(clone, package / "suggestions.py", "_IS_RELEASED = False\n")
    return clone


def test_a_release_sets_versions_and_dates_change_logs_and_pushes_all_at_once(repository: Path) -> None:
    assert release(repository) == "release-2026-12-01:\n  toys 0.3.0\n  toys-walks 0.3.0\n"
    origin = repository.parent / "origin"
    assert (
        git(origin, "rev-parse", "main", "release-2026-12-01^{}").split() == [git(repository, "rev-parse", "HEAD")] * 2
    )
    assert git(origin, "cat-file", "-t", "release-2026-12-01") == "tag"
    assert git(origin, "log", "-1", "--format=%B") == "Release 2026-12-01\n\ntoys 0.3.0\ntoys-walks 0.3.0"
    for path, line in (
        ("core/src/envcore/version.py", '__version__ = "0.3.0"'),
        ("core/src/envcore/suggestions.py", "_IS_RELEASED = True"),
        ("packages/walks/pyproject.toml", 'version = "0.3.0"'),
    ):
        assert line in git(origin, "show", f"main:{path}").splitlines()
    for folder in (CORE, WALKS):
        assert (repository / folder / "CHANGELOG.md").read_text() == LOG.replace("unreleased", "2026-12-01")
    assert git(repository, "status", "--porcelain") == ""


def test_only_what_has_changed_is_released(repository: Path) -> None:
    release(repository)
    log = (repository / WALKS / "CHANGELOG.md").read_text()
    change(repository, WALKS / "README.md", "Walks.")
    assert release(repository) == "no change log says that anything has changed since release-2026-12-01"
    change(repository, WALKS / "src" / "walks.py", "")
    unsaid = "toys-walks has changed since release-2026-12-01, but packages/walks/CHANGELOG.md does not begin with"
    assert release(repository).startswith(unsaid)
    change(repository, WALKS / "CHANGELOG.md", log.replace("# Changelog\n", "# Changelog\n\n## 0.4.0 (unreleased)\n"))
    assert release(repository).startswith(unsaid)
    change(repository, WALKS / "CHANGELOG.md", log.replace("\n\n", "\n\n## 0.4.0 (unreleased)\n\n- Runs.\n\n", 1))
    assert release(repository) == "release-2026-12-01.2:\n  toys-walks 0.4.0\n"  # the second of the day
    change(repository, CORE / "src" / "envcore" / "version.py", '__version__ = "0.3.1"\n')
    assert release(repository).startswith("toys has changed since release-2026-12-01.2, but core/CHANGELOG.md")


def test_the_core_s_release_is_what_is_cited(repository: Path) -> None:
    release(repository)
    cited = CITATION.replace('"0.2.0" # of envcore', '"0.3.0" # of envcore\ndate-released: "2026-12-01"')
    path = repository / ".github" / "CITATION.cff"
    assert path.read_text() == cited
    change(repository, CORE / "CHANGELOG.md", LOG.replace("0.3.0", "0.4.0"))
    release(repository, day="2026-12-10")  # the next release replaces the date
    assert path.read_text() == cited.replace("0.3.0", "0.4.0").replace("12-01", "12-10")
    change(repository, WALKS / "CHANGELOG.md", LOG.replace("0.3.0", "0.4.0"))
    assert release(repository, day="2026-12-11") == "release-2026-12-11:\n  toys-walks 0.4.0\n"
    assert "12-10" in path.read_text()


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
    ("path", "text", "message"),
    [
        (
            WALKS / "CHANGELOG.md",
            "# Changelog\n\n## 0.3.0 (2026-01-01)\n\n- Old.\n",
            "packages/walks/CHANGELOG.md does",
        ),
        (WALKS / "CHANGELOG.md", "# Changelog\n\n## 0.3.0 (unreleased)\n\n## 0.2.0 (2026-01-01)\n", "packages/walks/"),
        (WALKS / "CHANGELOG.md", LOG.replace("0.3.0", "0.2.0"), "toys-walks: 0.2.0 is not newer than 0.2.0"),
        (WALKS / "CHANGELOG.md", LOG.replace("0.3.0", "next"), "toys-walks: Invalid version: 'next'"),
        (
            WALKS / "pyproject.toml",
            '[project]\nname = "toys-walks"\n',
            "packages/walks/pyproject.toml has no version",
        ),
        (".github/CITATION.cff", "cff-version: 1.2.0\n", "CITATION.cff has no version"),
        ("pyproject.toml", "[project]\n", "uv lock: "),
    ],
)
def test_what_cannot_be_released_is_left_as_it_is(repository: Path, path: Path | str, text: str, message: str) -> None:
    change(repository, path, text)
    before = git(repository, "rev-parse", "HEAD")
    assert release(repository).startswith(message)
    assert git(repository, "status", "--porcelain", "--untracked-files=no") == ""
    assert (git(repository, "rev-parse", "HEAD"), git(repository, "tag")) == (before, "")


def test_a_release_that_origin_refuses_is_undone(repository: Path) -> None:
    git(repository, "push", "origin", "main")
    git(repository.parent, "clone", "origin", "other")
    change(repository.parent / "other", "news", "")
    git(repository.parent / "other", "push")
    before = git(repository, "rev-parse", "HEAD")
    assert release(repository).startswith("git push: ")
    assert (git(repository, "rev-parse", "HEAD"), git(repository, "tag")) == (before, "")
    assert git(repository.parent / "origin", "tag") == ""


def test_a_release_is_of_main_as_committed(repository: Path) -> None:
    (repository / CORE / "CHANGELOG.md").write_text("")
    assert release(repository) == "there are changes that are not committed"
    git(repository, "checkout", "-b", "topic", "--force")
    assert release(repository) == "releases are made on the branch main, and this is topic"


def test_a_dry_run_says_what_would_happen_and_changes_nothing(repository: Path) -> None:
    before = git(repository, "rev-parse", "HEAD")
    said = release(repository, "--dry-run")
    assert (git(repository, "rev-parse", "HEAD"), git(repository, "tag")) == (before, "")
    assert git(repository, "status", "--porcelain") == ""
    assert release(repository) == said


def test_what_a_release_publishes_follows_what_it_needs_and_is_complete(repository: Path) -> None:
    change(repository, "packages/a/CHANGELOG.md", LOG)
    needs = '[project]\nname = "toys-a"\nversion = "0.2.0"\ndependencies = ["toys-walks[x]>=0.2", "toys"]\n'
    change(repository, "packages/a/pyproject.toml", needs)

    def publish() -> str:
        command = [sys.executable, TOOLS / "release" / "publish.py", "--list", "--root", repository]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stderr or done.stdout

    assert publish() == "error: the checked-out commit releases nothing\n"
    release(repository)
    names = [
        f"{name}-0.3.0{end}" for name in ("toys", "toys_walks", "toys_a") for end in (".tar.gz", "-py3-none-any.whl")
    ]
    (repository / "dist").mkdir()
    for name in names[1:]:
        (repository / "dist" / name).touch()
    assert publish() == "error: dist/toys-0.3.0.tar.gz is missing: nothing was uploaded\n"
    (repository / "dist" / names[0]).touch()
    assert publish().split() == [str(repository / "dist" / name) for name in names]
