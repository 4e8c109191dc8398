"""Prepares a release of one distribution: its version, the heading of its change log, and the core's citation.

    uv run python tools/release envcore-minatar 0.2.0 --dry-run
    uv run python tools/release envcore-minatar 0.2.0

The change log must begin with an unreleased section, which gets the version and the date; the next change begins a new
one. What is left to do is printed: a commit, and the tag that `.github/workflows/release.yml` publishes.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
import tomllib
from pathlib import Path

from packaging.version import InvalidVersion, Version

_ROOT = Path(__file__).parents[2]
_CITED = "envcore"
_UNRELEASED = re.compile(r"^## (\S+) \(unreleased\)$", re.MULTILINE)
_FIRST = re.compile(r"^## (\S+) \((.*)\)$", re.MULTILINE)


class ReleaseError(Exception):
    """There is nothing to release under this name or version."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("distribution", help="for example envcore-minatar")
    parser.add_argument("version", help="for example 0.2.0")
    parser.add_argument(
        "--date", type=datetime.date.fromisoformat, default=datetime.date.today(), help="of the release"
    )
    parser.add_argument("--dry-run", action="store_true", help="change nothing")
    parser.add_argument("--root", type=Path, default=_ROOT, help="the repository")
    options = parser.parse_args()
    try:
        changes = prepare(options.root, options.distribution, options.version, options.date)
    except ReleaseError as error:
        sys.exit(f"error: {error}")
    for path, text in changes.items():
        is_new = text != path.read_text()
        print(f"{path.relative_to(options.root)}: {'changed' if is_new else 'as it is'}")
        if not options.dry_run:
            path.write_text(text)
    message = f"{options.distribution} {options.version}"
    tag = message.replace(" ", "-v")
    print(f'then: uv lock && git commit -am "{message}" && git tag {tag} && git push --tags')


def prepare(root: Path, distribution: str, version: str, date: datetime.date) -> dict[Path, str]:
    """Returns the new text of each file, without writing it.

    Raises:
      ReleaseError: the distribution is unknown, the version is not newer than the last one, nothing is unreleased, or
        the citation has no version.
    """
    folder = _folder(root, distribution)
    log = folder / "CHANGELOG.md"
    text = log.read_text() if log.exists() else ""
    unreleased = _UNRELEASED.search(text)
    first = _FIRST.search(text)
    if unreleased is None or first is None or first.start() != unreleased.start():
        raise ReleaseError(f"{log.relative_to(root)} does not begin with a section '## VERSION (unreleased)'")
    if not text[unreleased.end() :].partition("\n## ")[0].strip():
        raise ReleaseError(f"{log.relative_to(root)} says nothing about what is released")
    released = [each[1] for each in _FIRST.finditer(text) if each[2] != "unreleased"]
    try:
        if released and Version(version) <= max(map(Version, released)):
            raise ReleaseError(f"{version} is not newer than {max(released, key=Version)}")
        Version(version)
    except InvalidVersion as error:
        raise ReleaseError(f"{version!r} is not a version, such as 0.2.0") from error
    heading = f"## {version} ({date.isoformat()})"
    path, pattern = _place_of_version(folder)
    current = path.read_text()
    changed, count = re.subn(pattern, rf"\g<1>{version}\g<2>", current, count=1)
    if not count:
        raise ReleaseError(f"{path.relative_to(root)} has no version")
    changes = {path: changed, log: text[: unreleased.start()] + heading + text[unreleased.end() :]}
    if distribution == _CITED:
        changes |= _citation(root / ".github" / "CITATION.cff", version, date)
    return changes


def _citation(path: Path, version: str, date: datetime.date) -> dict[Path, str]:
    """The citation of this release: its version, followed by its date."""
    pattern = r'^version: "[^"]*"(.*)\n(?:date-released: .*\n)?'
    line = rf'version: "{version}"\g<1>\ndate-released: "{date.isoformat()}"\n'
    text, count = re.subn(pattern, line, path.read_text(), count=1, flags=re.MULTILINE)
    if not count:
        raise ReleaseError(f"{path.name} has no version")
    return {path: text}


def _folder(root: Path, distribution: str) -> Path:
    found = {
        tomllib.loads(path.read_text())["project"]["name"]: path.parent
        for pattern in ("core", "packages/*", "plugins/*")
        for path in root.glob(f"{pattern}/pyproject.toml")
    }
    if distribution not in found:
        raise ReleaseError(f"there is no distribution {distribution!r}; there are: {', '.join(sorted(found))}")
    return found[distribution]


def _place_of_version(folder: Path) -> tuple[Path, str]:
    """The file with the version, and a pattern around it: the core's is in a module, the others' in pyproject.toml."""
    module = folder / "src" / "envcore" / "version.py"
    if module.exists():
        return module, r'(__version__ = ")[^"]*(")'
    return folder / "pyproject.toml", r'((?m:^)version = ")[^"]*(")'


if __name__ == "__main__":
    main()
