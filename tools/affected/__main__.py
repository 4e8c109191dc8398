"""Prints the tests that a change affects, for pytest, or the jobs that check it, for CI.

    uv run pytest $(python tools/affected)
    uv run pytest $(python tools/affected --since HEAD~1)

A change affects a distribution if it is in its folder, or in that of one that its tests install. One in what all tests
share affects all. The folder `tests`, of several distributions together, is always tested. It needs git and Python's
standard library, no environment.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
SHARED = (".ci/", ".github/workflows/ci.yml", "conftest.py", "pyproject.toml", "tests/support/", "uv.lock")

ON_OTHER_RELEASES = ("core", "packages/", "plugins/adapters", "plugins/baselines", "plugins/cli", "plugins/runs")
"""Where what the steps `lowest` and `newest` of .ci/run test is."""
WITH_CLIENTS = {"envcore-adapters", "envcore-bridges", "envcore-gymnax"}
"""What its step `clients` tests."""
NOT_ON_LOWEST = ("3.14",)
"""Versions of Python for which the lowest jaxlib has no wheel."""

Job = dict[str, str]


class Distribution(NamedTuple):
    """A member of the workspace.

    Attributes:
      folder: from the root, such as "packages/minatar".
      needs: names of our distributions that are installed with it.
      tests_need: of those that its extras and tests need as well.
    """

    folder: str
    needs: frozenset[str]
    tests_need: frozenset[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--since", default="main", help="the commit to compare with; by default, where main was left")
    parser.add_argument("--all", action="store_true", help="as if everything had changed")
    parser.add_argument("--jobs", action="store_true", help="print the jobs of CI instead, as JSON")
    options = parser.parse_args()
    found = distributions()
    changed = set(found) if options.all else changed_distributions(changed_files(options.since), found)
    affected = affected_distributions(changed, found)
    if not options.jobs:
        print(*tests_of(affected, found))
    else:
        jobs = jobs_of_everything() if options.all else jobs_of_a_change(changed, affected, found)
        print(json.dumps({"include": jobs}))


def distributions() -> dict[str, Distribution]:
    """All members of the workspace, by name."""
    paths = [path for pattern in ("core", "packages/*", "plugins/*") for path in ROOT.glob(f"{pattern}/pyproject.toml")]
    settings = {path.parent.relative_to(ROOT).as_posix(): tomllib.loads(path.read_text()) for path in sorted(paths)}
    names = {each["project"]["name"] for each in settings.values()}
    return {each["project"]["name"]: _distribution(folder, each, names) for folder, each in settings.items()}


def _distribution(folder: str, settings: dict[str, Any], names: set[str]) -> Distribution:
    project = settings["project"]
    # The core's extras are other names for our distributions: it needs none of them.
    extras = {} if project["name"] == "envcore" else project.get("optional-dependencies", {})
    groups = settings.get("dependency-groups", {})
    more = [line for lines in (*extras.values(), *groups.values()) for line in lines]
    return Distribution(folder, _ours(project["dependencies"], names), _ours(more, names) - {project["name"]})


def _ours(requirements: Iterable[str], names: set[str]) -> frozenset[str]:
    found = (re.match(r"[\w.-]+", line) for line in requirements)
    return frozenset(each[0] for each in found if each) & names


def changed_files(since: str) -> list[str]:
    """Paths from the root that differ from where the history left `since`, committed or not, and untracked ones."""
    try:
        base = _git("merge-base", since, "HEAD")[0]
    except subprocess.CalledProcessError as error:
        sys.exit(f"error: no history leads from {since!r} to HEAD: {error.stderr.strip()}")
    return _git("diff", "--name-only", "--no-renames", base) + _git("ls-files", "--others", "--exclude-standard")


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def changed_distributions(files: Iterable[str], found: dict[str, Distribution]) -> set[str]:
    """Those with a changed file; all if what all tests share has changed."""
    files = list(files)
    if any(file.startswith(SHARED) for file in files):
        return set(found)
    return {name for name, each in found.items() if any(file.startswith(f"{each.folder}/") for file in files)}


def affected_distributions(changed: set[str], found: dict[str, Distribution]) -> set[str]:
    """Those whose tests install a changed one."""
    return {name for name in found if _installed_by_tests(name, found) & changed}


def _installed_by_tests(name: str, found: dict[str, Distribution]) -> set[str]:
    installed = {name} | found[name].tests_need
    while more := set().union(*(found[each].needs for each in installed)) - installed:
        installed |= more
    return installed


def tests_of(affected: set[str], found: dict[str, Distribution]) -> list[str]:
    """The folders for pytest."""
    return [found[name].folder for name in found if name in affected] + ["tests"]


def jobs_of_a_change(changed: set[str], affected: set[str], found: dict[str, Distribution]) -> list[Job]:
    """At most seven, on the oldest Python but for `newest`: a change of documents alone has two."""
    oldest, *_, newest = pythons()
    jobs = [
        {"python": oldest, "steps": "lock install lint types contracts"},
        {"python": oldest, "steps": "browser tests", "tests": " ".join(tests_of(affected, found))},
    ]
    if changed:
        alone = " ".join(each.folder for name, each in found.items() if name in changed)
        jobs.append({"python": oldest, "steps": "alone", "tests": alone})
        jobs.append({"python": oldest, "steps": "wheels"})
    if any(found[name].folder.startswith(ON_OTHER_RELEASES) for name in affected):
        jobs += [{"python": oldest, "steps": "lowest"}, {"python": newest, "steps": "newest"}]
    if affected & WITH_CLIENTS:
        jobs.append({"python": oldest, "steps": "clients"})
    return jobs


def jobs_of_everything() -> list[Job]:
    """All steps, and those that depend on it on every Python."""
    oldest, *_, newest = every = pythons()
    jobs = [{"python": oldest, "steps": steps} for steps in ("lock install lint types contracts", "alone", "clients")]
    jobs += [{"python": python, "steps": "wheels"} for python in (oldest, newest)]
    for python in every:
        jobs += [{"python": python, "steps": "browser tests"}, {"python": python, "steps": "newest"}]
        if python not in NOT_ON_LOWEST:
            jobs.append({"python": python, "steps": "lowest"})
    return jobs


def pythons() -> list[str]:
    """The supported versions, such as "3.11", oldest first."""
    classifiers = tomllib.loads((ROOT / "core" / "pyproject.toml").read_text())["project"]["classifiers"]
    prefix = "Programming Language :: Python :: "
    return [each.removeprefix(prefix) for each in classifiers if each.startswith(prefix)]


if __name__ == "__main__":
    main()
