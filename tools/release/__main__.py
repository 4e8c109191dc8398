"""Release the distributions whose change logs begin with a section `## VERSION (unreleased)`.

    uv run python tools/release --dry-run   # list these distributions
    uv run python tools/release             # set versions and dates, commit, tag and push
    python3 tools/release --files           # list the built files that the last commit releases

The tag starts the workflow that runs all checks and publishes.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys
from pathlib import Path

_UNRELEASED = re.compile(r"\A(?:(?!## ).*\n)*## (\S+) \(unreleased\)\n(?=(?:\n)*[^#\s])")
_DATED = re.compile(r"^## (\S+) \(\d", re.MULTILINE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry-run", action="store_true", help="only list the distributions to release")
    parser.add_argument("--files", action="store_true", help="list the files that the last commit releases")
    options = parser.parse_args()
    root = Path(run("git", "rev-parse", "--show-toplevel"))
    logs = sorted(
        path for pattern in ("core", "packages/*", "plugins/*") for path in root.glob(f"{pattern}/CHANGELOG.md")
    )
    if options.files:
        changed = run("git", "diff", "--name-only", "HEAD^", "HEAD").splitlines()
        for log in logs:
            version = _DATED.search(log.read_text())
            if str(log.relative_to(root)) in changed and version:
                stem = f"dist/{name_of(log).replace('-', '_')}-{version[1]}"
                print(f"{stem}.tar.gz", f"{stem}-py3-none-any.whl", sep="\n")
        return
    versions = {log: found[1] for log in logs if (found := _UNRELEASED.match(log.read_text()))}
    if not versions:
        sys.exit("error: no change log begins with a nonempty section '## VERSION (unreleased)'")
    for log, version in versions.items():
        print(name_of(log), version)
    if options.dry_run:
        return
    if run("git", "branch", "--show-current") != "main" or run("git", "status", "--porcelain", "-uno"):
        sys.exit("error: to release, switch to the branch main and commit everything")
    today = datetime.date.today().isoformat()
    for log, version in versions.items():
        log.write_text(log.read_text().replace(f"## {version} (unreleased)", f"## {version} ({today})", 1))
        if log.parent.name == "core":
            replace(log.parent / "src/envcore/version.py", r'^(__version__ = ").*(")', rf"\g<1>{version}\g<2>")
            replace(log.parent / "src/envcore/suggestions.py", "^(_IS_RELEASED = )False$", r"\g<1>True")
            cited = rf'version: "{version}"\g<1>\ndate-released: "{today}"\n'
            replace(root / ".github/CITATION.cff", r'^version: "[^"]*"(.*)\n(?:date-released: .*\n)?', cited)
        else:
            run("uv", "version", "--quiet", "--frozen", "--package", name_of(log), version)
    run("uv", "lock", "--quiet")
    tag = f"release-{today}"
    run("git", "commit", "--quiet", "--all", "--message", f"Release {', '.join(map(name_of, versions))}")
    run("git", "tag", tag)
    run("git", "push", "--quiet", "--atomic", "origin", "main", tag)
    print(tag)


def name_of(log: Path) -> str:
    """Returns the name of the distribution with this change log."""
    return "envcore" if log.parent.name == "core" else f"envcore-{log.parent.name}"


def replace(path: Path, pattern: str, text: str) -> None:
    """Replaces the first match of a pattern in a file."""
    path.write_text(re.sub(pattern, text, path.read_text(), count=1, flags=re.MULTILINE))


def run(*command: str) -> str:
    """Runs a command and returns its output. Exits with its error if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else sys.exit(f"error: {' '.join(command)}: {done.stderr}")


if __name__ == "__main__":
    main()
