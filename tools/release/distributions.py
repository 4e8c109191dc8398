"""The distributions that are released: those of the repository that have a change log."""

from __future__ import annotations

import dataclasses
import graphlib
import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


class ReleaseError(Exception):
    """A release that cannot be made; the message says why in one line."""


@dataclasses.dataclass(frozen=True)
class Distribution:
    """One distribution of the repository.

    Attributes:
      name: its name.
      folder: its folder.
      version: its version, as it would be built now.
      needs: the names of those of ours that it cannot be installed without.
    """

    name: str
    folder: Path
    version: str
    needs: frozenset[str]

    @property
    def change_log(self) -> Path:
        """Its change log."""
        return self.folder / "CHANGELOG.md"

    @property
    def file_names(self) -> list[str]:
        """The names of its sdist and its wheel."""
        stem = f"{self.name.replace('-', '_')}-{self.version}"
        return [f"{stem}.tar.gz", f"{stem}-py3-none-any.whl"]


def find_distributions(root: Path) -> list[Distribution]:
    """All distributions with a change log, each after those that it needs."""
    logs = [log for pattern in ("core", "packages/*", "plugins/*") for log in root.glob(f"{pattern}/CHANGELOG.md")]
    projects = {log.parent: tomllib.loads((log.parent / "pyproject.toml").read_text())["project"] for log in logs}
    ours = {project["name"] for project in projects.values()}
    found: dict[str, Distribution] = {}
    for folder, project in projects.items():
        path, pattern = place_of_version(folder)
        version = re.search(pattern, path.read_text())
        if version is None:
            raise ReleaseError(f"{path.relative_to(root)} has no version")
        names = {re.split(r"[^\w.-]", line)[0] for line in project.get("dependencies", [])}
        found[project["name"]] = Distribution(project["name"], folder, version["version"], frozenset(names & ours))
    graph = {name: sorted(found[name].needs) for name in sorted(found)}
    return [found[name] for name in graphlib.TopologicalSorter(graph).static_order()]


def place_of_version(folder: Path) -> tuple[Path, str]:
    """The file with the version, and a pattern for it: the core's is in a module, the others' in pyproject.toml."""
    modules = sorted(folder.glob("src/*/version.py"))
    if modules:
        return modules[0], r'(?m)^__version__ = "(?P<version>[^"]*)"$'
    return folder / "pyproject.toml", r'(?m)^version = "(?P<version>[^"]*)"$'


def git(root: Path, *arguments: str) -> str:
    """What git prints.

    Raises:
      ReleaseError: git fails.
    """
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ReleaseError(f"git {arguments[0]}: {' '.join((done.stderr or done.stdout).split())}")
    return done.stdout.strip()
