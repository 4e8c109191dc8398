"""Publishes what the checked-out commit releases: the step of `.github/workflows/release.yml` after all checks.

    python3 tools/release/publish.py --list    # the files, in the order in which they would be uploaded
    python3 tools/release/publish.py

The files are in `dist`, with or without attestations beside them. Nothing is uploaded unless all are there. A
distribution follows those that it needs, so what the index has can be installed at any time; only the core's extras
may wait for those after it. An index has no transactions: an interrupted upload leaves the first ones published, and
the same command, with the same files, uploads the rest. `uv publish` reads from its environment variables where to
upload, and as whom.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

from distributions import ROOT, Distribution, ReleaseError, find_distributions, git


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the files and upload nothing")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    options = parser.parse_args()
    try:
        files = [built_files(options.root, distribution) for distribution in released(options.root)]
    except ReleaseError as error:
        sys.exit(f"error: {error}")
    for of_one in files:
        print(*of_one, sep="\n", flush=True)
        with_attestations = [f"{path}*" for path in of_one]
        if (
            not options.list
            and subprocess.run(["uv", "publish", "--quiet", *with_attestations], check=False).returncode
        ):
            sys.exit(f"error: {of_one[0].name} was not uploaded; run this again for it and what follows")


def released(root: Path) -> list[Distribution]:
    """The distributions whose change logs the checked-out commit dates, each after those that it needs.

    Raises:
      ReleaseError: there are none.
    """
    logs = git(root, "diff", "--name-only", "HEAD^", "HEAD").splitlines()
    found = [each for each in find_distributions(root) if each.change_log.relative_to(root).as_posix() in logs]
    found = [each for each in found if _newest_section(each) == each.version]
    if not found:
        raise ReleaseError("the checked-out commit releases nothing")
    return found


def built_files(root: Path, distribution: Distribution) -> list[Path]:
    """The sdist and the wheel of a distribution.

    Raises:
      ReleaseError: one of them is missing.
    """
    files = [root / "dist" / name for name in distribution.file_names]
    for path in files:
        if not path.exists():
            raise ReleaseError(f"{path.relative_to(root)} is missing: nothing was uploaded")
    return files


def _newest_section(distribution: Distribution) -> str | None:
    """The version of the section with which a change log begins, if that has a date."""
    first = re.search(r"^## (\S+) \((.*)\)$", distribution.change_log.read_text(), re.MULTILINE)
    return first[1] if first and first[2] != "unreleased" else None


if __name__ == "__main__":
    main()
