"""The oldest released core that a distribution's bound allows, with which it must work too."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

CORE = "envcore"
_VERSION = "core/src/envcore/version.py"


def bound_on_core(project: dict[str, Any]) -> SpecifierSet | None:
    """The versions of the core that a distribution says it works with; the core itself says nothing."""
    requirements = map(Requirement, project.get("dependencies", []))
    return next((each.specifier for each in requirements if each.name == CORE), None)


def check_out_oldest(root: Path, bounds: dict[str, SpecifierSet | None], folder: Path) -> dict[str, Path]:
    """Writes the releases with the oldest cores that bounds allow into folders of their own.

    Returns:
      The folder for each name whose bound allows a released core.
    """
    cores = _released_cores(root)
    oldest = {name: next(bound.filter(cores), None) for name, bound in bounds.items() if bound is not None}
    folders = {name: folder / cores[version] for name, version in oldest.items() if version is not None}
    for path in {*folders.values()}:
        archive = path.with_name(f"{path.name}.tar")
        _git(root, "archive", "--output", archive, path.name)
        with tarfile.open(archive) as files:
            files.extractall(path, filter="data")
    return folders


def _released_cores(root: Path) -> dict[Version, str]:
    """The released versions of the core, each with the first tag that has it, the oldest first."""
    found: dict[Version, str] = {}
    for tag in _git(root, "tag", "--list", "release-*", "--sort=version:refname").split():
        text = _git(root, "show", f"{tag}:{_VERSION}")
        found.setdefault(Version(text.partition('__version__ = "')[2].partition('"')[0]), tag)
    return dict(sorted(found.items()))


def _git(root: Path, *arguments: str | Path) -> str:
    return subprocess.run(["git", *arguments], cwd=root, stdout=subprocess.PIPE, text=True, check=True).stdout
