"""What the next release publishes, and what it changes in the files: versions, change logs, and the core's citation."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

from distributions import Distribution, ReleaseError, find_distributions, git, place_of_version
from packaging.version import InvalidVersion, Version

_SECTION = re.compile(r"^## (?P<version>\S+) \((?P<date>.*)\)\n(?P<text>(?:(?!## ).*\n)*)", re.MULTILINE)
_IS_RELEASED = re.compile(r"^(_IS_RELEASED = )False$", re.MULTILINE)


def next_versions(root: Path) -> dict[Distribution, str]:
    """The distributions that the next release publishes, each after those that it needs, with their new versions.

    They are those whose change log begins with an unreleased section that says something.

    Raises:
      ReleaseError: a distribution has changed since the last release and its change log does not say so, a version is
        not newer than the last one, or nothing has changed.
    """
    last = git(root, "tag", "--list", "release-*", "--merged", "HEAD", "--sort=-version:refname").partition("\n")[0]
    found: dict[Distribution, str] = {}
    for distribution in find_distributions(root):
        path = distribution.change_log.relative_to(root)
        version = _unreleased(distribution)
        if version is not None:
            found[distribution] = version
        elif not last:
            raise ReleaseError(f"{path} does not begin with a section '## VERSION (unreleased)' that says something")
        elif git(
            root, "diff", "--name-only", last, "HEAD", "--", f"{path.parent}/src", f"{path.parent}/pyproject.toml"
        ):
            raise ReleaseError(
                f"{distribution.name} has changed since {last}, but {path} does not begin with a section "
                "'## VERSION (unreleased)' that says how"
            )
    if not found:
        raise ReleaseError(f"no change log says that anything has changed since {last}")
    return found


def new_texts(root: Path, versions: dict[Distribution, str], date: datetime.date) -> dict[Path, str]:
    """The new texts of the files that a release changes, without writing them.

    Raises:
      ReleaseError: the citation has no version.
    """
    texts: dict[Path, str] = {}
    for distribution, version in versions.items():
        path, pattern = place_of_version(distribution.folder)
        old = path.read_text()
        match = re.search(pattern, old)
        assert match is not None  # `find_distributions` has read it
        start, end = match.span("version")
        texts[path] = old[:start] + version + old[end:]
        log = distribution.change_log
        texts[log] = log.read_text().replace(f"## {version} (unreleased)", f"## {version} ({date.isoformat()})", 1)
        if distribution.folder == root / "core":
            texts |= _texts_of_the_core(root, version, date)
    return texts


def _unreleased(distribution: Distribution) -> str | None:
    """The version of the section with which a change log begins, if that is unreleased and says something."""
    sections = list(_SECTION.finditer(distribution.change_log.read_text()))
    if not sections or sections[0]["date"] != "unreleased" or not sections[0]["text"].strip():
        return None
    version = sections[0]["version"]
    try:
        newest = max((Version(each["version"]) for each in sections[1:]), default=None)
        if newest is not None and Version(version) <= newest:
            raise ReleaseError(f"{distribution.name}: {version} is not newer than {newest}")
        Version(version)
    except InvalidVersion as error:
        raise ReleaseError(f"{distribution.name}: {error}; a version is such as 0.2.0") from error
    return version


def _texts_of_the_core(root: Path, version: str, date: datetime.date) -> dict[Path, str]:
    """The citation, with the version and the date, and the module that says that envcore has been released."""
    citation, suggestions = root / ".github" / "CITATION.cff", root / "core" / "src" / "envcore" / "suggestions.py"
    pattern = r'^version: "[^"]*"(.*)\n(?:date-released: .*\n)?'
    line = rf'version: "{version}"\g<1>\ndate-released: "{date.isoformat()}"\n'
    cited, count = re.subn(pattern, line, citation.read_text(), count=1, flags=re.MULTILINE)
    if not count:
        raise ReleaseError(f"{citation.name} has no version")
    return {citation: cited, suggestions: _IS_RELEASED.sub(r"\g<1>True", suggestions.read_text())}
