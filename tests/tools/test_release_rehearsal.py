"""Two releases, from the command to `pip install -U`, with a package index of their own on this machine."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from checkouts import copy_files
from envcore.version import __version__
from packaging.version import Version
from rattler_build import Stage0Recipe
from tool_modules import TOOLS

pytestmark = [pytest.mark.slow, pytest.mark.long]

ROOT = TOOLS.parent
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
FIRST, SECOND = (f"{Version(__version__).major}.{minor}.0" for minor in (90, 91))
AT_MOST = 60.0
"""Seconds of processor time, as other tests run beside this one, from `pip install` to the end of the README's program;
without jaxlib."""


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **variables}, stdout=-1, stderr=-2, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}"
    return done.stdout


@pytest.fixture
def index(tmp_path: Path) -> Iterator[str]:
    """The address of an index, which keeps its files in the folder `index`."""
    folder = tmp_path / "index"
    folder.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = [
        "-i",
        "127.0.0.1",
        "-p",
        str(port),
        "-a",
        ".",
        "-P",
        ".",
        "--disable-fallback",
        "--backend",
        "simple-dir",
    ]
    server = subprocess.Popen([sys.executable, "-m", "pypiserver", "run", *options, folder], stdout=-3, stderr=-3)
    try:
        while server.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait()


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A developer's clone of a repository with the files of this one."""
    for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "nobody@example.org")
    for name in [name for name in os.environ if name.startswith(("ENVCORE_", "JAX_", "PYTHON", "VIRTUAL_ENV", "XLA_"))]:
        monkeypatch.delenv(name)
    run("git", "init", "--bare", "--initial-branch", "main", "origin", cwd=tmp_path)
    run("git", "clone", "origin", "clone", cwd=tmp_path)
    copy_files(tmp_path / "clone")
    for log in (tmp_path / "clone").glob("**/CHANGELOG.md"):
        announce(log, FIRST)
    commit(tmp_path / "clone", "The files.")
    return tmp_path / "clone"


def announce(log: Path, version: str) -> None:
    """Begins a change log with a section of a next version."""
    text = log.read_text()
    assert text.startswith("# Changelog\n\n")
    log.write_text(text.replace("\n\n", f"\n\n## {version} (unreleased)\n\n- A change.\n\n", 1))


def commit(clone: Path, message: str) -> None:
    run("git", "add", ".", cwd=clone)
    run("git", "commit", "--quiet", "--message", message, cwd=clone)


def release(clone: Path) -> list[str]:
    """Releases from a clone; returns the tag and what it contains, such as "envcore 0.90.0"."""
    tag, *contents = run(sys.executable, "tools/release", cwd=clone).splitlines()
    return [tag.removesuffix(":"), *(each.strip() for each in contents)]


def build(origin: Path, tag: str, folder: Path, *packages: str) -> None:
    """What the workflow's job `build` does with the files on a checkout of a tag, of all packages or some."""
    run("git", "clone", "--quiet", "--depth", "2", "--branch", tag, origin.as_uri(), folder, cwd=origin)
    for options in [("--package", package) for package in packages] or [("--all-packages",)]:
        run("uv", "build", *options, "--out-dir", "dist", cwd=folder)


def publish(folder: Path, index: str) -> list[str]:
    """The last step of the workflow's job `publish`; returns the names of the files, in order."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    command = workflow["jobs"]["publish"]["steps"][-1]["run"]
    here = {"UV_PUBLISH_URL": index, "UV_PUBLISH_CHECK_URL": f"{index}simple/"}
    printed = run("bash", "-euc", command, cwd=folder, UV_PUBLISH_USERNAME="-", UV_PUBLISH_PASSWORD="-", **here)
    return [Path(line).name for line in printed.splitlines()]


def seconds_of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def found_pythons() -> dict[str, str]:
    """The interpreters on this machine: of the system, of pyenv, and the one that `.ci/run newest` unpacks."""
    of_pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser().glob("versions/*/bin")
    path = os.pathsep.join(map(str, (*of_pyenv, ROOT / "build" / "trixie" / "usr" / "bin", os.environ["PATH"])))
    found: dict[str, str] = {}
    for version in PYTHONS:
        command = ["uv", "python", "find", "--system", "--no-python-downloads", version]
        done = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            found[version] = done.stdout.strip()
    return found


def pip(python: Path, index: str, *arguments: str) -> dict[str, str]:
    """Runs `pip install`; returns the versions of ours that it chose, all of which must be from the index."""
    report = python.parent / "report.json"
    extra = {"PIP_EXTRA_INDEX_URL": f"{index}simple/", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    run(python, "-m", "pip", "install", "--report", report, *arguments, cwd=python.parent, **extra)
    chosen = json.loads(report.read_text())["install"]
    ours = [each for each in chosen if each["metadata"]["name"].startswith("envcore")]
    assert all(each["download_info"]["url"].startswith(index) for each in ours)
    return {each["metadata"]["name"]: each["metadata"]["version"] for each in ours}


def test_two_releases(clone: Path, index: str, tmp_path: Path, subtests: pytest.Subtests) -> None:
    (tmp_path / "elsewhere").mkdir()
    origin, published = tmp_path / "origin", tmp_path / "index"

    tag, *contents = release(clone)
    build(origin, tag, tmp_path / "first")
    missing = tmp_path / "first" / "dist" / f"envcore_ray-{FIRST}.tar.gz"
    missing.rename(tmp_path / "aside")
    with pytest.raises(AssertionError, match=rf"error: dist/{missing.name} is missing: nothing was uploaded"):
        publish(tmp_path / "first", index)
    assert list(published.iterdir()) == []
    (tmp_path / "aside").rename(missing)
    names = publish(tmp_path / "first", index)
    assert sorted(path.name for path in published.iterdir()) == sorted(names)
    assert len(names) == 2 * len(contents)
    # An upload that was interrupted before its last distributions continues.
    kept = {name: (published / name).stat().st_mtime_ns for name in names[:-4]}
    for name in names[-4:]:
        (published / name).unlink()
    assert publish(tmp_path / "first", index) == names
    assert sorted(path.name for path in published.iterdir()) == sorted(names)
    assert {name: (published / name).stat().st_mtime_ns for name in kept} == kept

    recipes = run(sys.executable, "tools/release/conda.py", cwd=tmp_path / "first").split()
    rendered = [Stage0Recipe.from_yaml(Path(recipe).read_text()).render()[0].recipe.package.name for recipe in recipes]
    assert rendered == ["envcore", *(f"envcore-{path.name}" for path in sorted((ROOT / "packages").iterdir()))]

    readme = (ROOT / "packages" / "minatar" / "README.md").read_text()
    (program,) = re.findall(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)[:1]
    pythons = found_pythons()
    for version in PYTHONS:
        with subtests.test(python=version):
            if version not in pythons:
                pytest.skip(f"there is no Python {version} here")
            python = tmp_path / version / "bin" / "python"
            run("uv", "venv", "--quiet", "--seed", "--python", pythons[version], python.parents[1], cwd=tmp_path)
            run("uv", "pip", "install", "--quiet", "--python", python, "jaxlib", cwd=tmp_path)
            start = seconds_of_children()
            assert pip(python, index, "envcore", "envcore-minatar") == {"envcore": FIRST, "envcore-minatar": FIRST}
            run(python, "-c", program, cwd=tmp_path / "elsewhere")
            assert seconds_of_children() - start < AT_MOST
    everything = pip(tmp_path / "3.11" / "bin" / "python", index, "--dry-run", "envcore[all]")
    assert {"envcore-cli", "envcore-bsuite", "envcore-viewer"} <= set(everything)

    for folder in ("core", "packages/minatar"):
        announce(clone / folder / "CHANGELOG.md", SECOND)
    commit(clone, "A change.")
    tag, *contents = release(clone)
    assert contents == [f"envcore {SECOND}", f"envcore-minatar {SECOND}"]
    build(origin, tag, tmp_path / "second", "envcore", "envcore-minatar")
    assert sorted(publish(tmp_path / "second", index)) == sorted({path.name for path in published.iterdir()} - {*names})
    python = tmp_path / "3.11" / "bin" / "python"
    assert pip(python, index, "-U", "envcore", "envcore-minatar") == {"envcore": SECOND, "envcore-minatar": SECOND}
    run(python, "-c", program, cwd=tmp_path / "elsewhere")
