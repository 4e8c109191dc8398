"""Releases every distribution that has changed since the last release.

    uv run python tools/release --dry-run
    uv run python tools/release

A change log that begins with a section `## VERSION (unreleased)` says that its distribution is released, and as what.
The versions are set, the change logs dated and the citation renewed in one commit, which is pushed with its tag, both
or neither. `.github/workflows/release.yml` publishes what the tag's commit releases, once its checks have passed.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys
from pathlib import Path

from changes import new_texts, next_versions
from distributions import ROOT, ReleaseError, git


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--date", type=datetime.date.fromisoformat, default=datetime.date.today(), help="of the release"
    )
    parser.add_argument("--dry-run", action="store_true", help="change nothing")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    options = parser.parse_args()
    try:
        release(options.root.resolve(), options.date, options.dry_run)
    except ReleaseError as error:
        sys.exit(f"error: {error}")


def release(root: Path, date: datetime.date, dry_run: bool = False) -> None:
    """Commits, tags and pushes the next release, or changes nothing.

    Raises:
      ReleaseError: there is nothing to release, or not from this checkout, or origin refuses it.
    """
    if not dry_run:
        _check_checkout(root)
        git(root, "fetch", "--quiet", "--tags", "origin")
    versions = next_versions(root)
    texts = new_texts(root, versions, date)
    names = (f"release-{date.isoformat()}{suffix}" for suffix in ("", *(f".{number}" for number in range(2, 100))))
    tag = next(name for name in names if not git(root, "tag", "--list", name))
    contents = [f"{distribution.name} {version}" for distribution, version in versions.items()]
    print(f"{tag}:", *contents, sep="\n  ")
    if dry_run:
        return
    before = git(root, "rev-parse", "HEAD")
    try:
        for path, text in texts.items():
            path.write_text(text)
        _lock(root)
        message = "\n".join([f"Release {tag.removeprefix('release-')}", "", *contents])
        git(root, "commit", "--quiet", "--all", "--message", message)
        git(root, "tag", "--annotate", "--message", message, tag)
        git(root, "push", "--quiet", "--atomic", "origin", "HEAD:main", tag)
    except ReleaseError:
        git(root, "reset", "--quiet", "--hard", before)
        if git(root, "tag", "--list", tag):
            git(root, "tag", "--delete", tag)
        raise


def _check_checkout(root: Path) -> None:
    """Checks that what would be released is the branch main, as committed."""
    branch = git(root, "rev-parse", "--abbrev-ref", "HEAD")
    if branch != "main":
        raise ReleaseError(f"releases are made on the branch main, and this is {branch}")
    if git(root, "status", "--porcelain", "--untracked-files=no"):
        raise ReleaseError("there are changes that are not committed")


def _lock(root: Path) -> None:
    done = subprocess.run(["uv", "lock", "--quiet"], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ReleaseError(f"uv lock: {' '.join(done.stderr.split())}")


if __name__ == "__main__":
    main()
