"""Builds every distribution of the workspace through its sdist, and tests each wheel the way users install it.

    uv run python tools/check_wheels                      # all, into dist/
    uv run python tools/check_wheels --out-dir elsewhere

Each wheel is installed into a separate environment, together with those of ours that it depends on and the third-party
versions of uv.lock. The core there is the oldest released one that the wheel's bound allows, built from its tag, or
today's if none is released. There every announced environment is listed, made, reset and stepped. Then envcore-cli is
added: `envcore list` must show the environments, and each announced command must print its help. Prints one line per
distribution; the exit status is 1 if any of them fails.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from contents import content_problems
from cores import CORE, bound_on_core, check_out_oldest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]
CLI = "envcore-cli"
_EXTRAS = {"envcore-adapters": "[brax,dm-env,gymnasium]"}
"""The extras without which a distribution offers nothing."""

_SMOKE = Path(__file__).with_name("smoke.py")


@dataclasses.dataclass(frozen=True)
class Distribution:
    """One member of the workspace.

    Attributes:
      name: its name.
      package: the name of its import package.
      announces: whether it must announce environments or commands: it has an entry point for that.
      bound: the versions of the core that it says it works with; the core itself has none.
    """

    name: str
    package: str
    announces: bool
    bound: SpecifierSet | None = None

    @property
    def prefix(self) -> str:
        """The prefix of its sdist and wheel."""
        return self.name.replace("-", "_")


def main() -> None:
    parser = argparse.ArgumentParser(description="Build every distribution and test its wheel in isolation.")
    parser.add_argument(
        "--out-dir", type=Path, default=ROOT / "dist", help="folder for the results; it is emptied first"
    )
    dist = parser.parse_args().out_dir.resolve()
    try:
        distributions = find_distributions(ROOT)
        build(ROOT, dist)
        with tempfile.TemporaryDirectory() as scratch:
            constraints = export_lock(ROOT, Path(scratch))
            older = check_out_oldest(ROOT, {each.name: each.bound for each in distributions}, Path(scratch))
            for checkout in {*older.values()}:
                build(checkout, checkout / "dist")
            failures = report(distributions, dist, constraints, Path(scratch), older)
    except CommandError as error:
        sys.exit(f"error: {error}")
    if failures:
        sys.exit(f"error: {failures} of {len(distributions)} distributions failed")


def find_distributions(root: Path) -> list[Distribution]:
    """The members of the workspace, the core and the command line first."""
    members = _read_toml(root)["tool"]["uv"]["workspace"]["members"]
    folders = sorted(found.parent for pattern in members for found in root.glob(f"{pattern}/pyproject.toml"))
    projects = [(folder, _read_toml(folder)["project"]) for folder in folders]
    distributions = [
        Distribution(
            project["name"],
            next(folder.glob("src/*/__init__.py")).parent.name,
            "envcore.plugins" in project.get("entry-points", {}),
            bound_on_core(project),
        )
        for folder, project in projects
    ]
    return sorted(distributions, key=lambda each: (each.announces, each.name))


def build(root: Path, dist: Path) -> None:
    """Builds sdists, and wheels from the sdists."""
    run("uv", "build", "--all-packages", "--clear", "--out-dir", dist, cwd=root)


def export_lock(root: Path, scratch: Path) -> Path:
    """Writes the third-party versions of the lock file into a constraints file."""
    path = scratch / "constraints.txt"
    options = ("--frozen", "--no-dev", "--no-hashes", "--no-emit-workspace", "--quiet")
    run("uv", "export", *options, "--output-file", path, cwd=root)
    return path


def report(
    distributions: list[Distribution], dist: Path, constraints: Path, scratch: Path, older: dict[str, Path]
) -> int:
    """Prints one line per distribution and returns the number of failures.

    `older` has, by a distribution's name, the built checkout of the release with whose core it is tried.
    """

    def check(distribution: Distribution) -> tuple[str, list[str]]:
        dist_of_core = older[distribution.name] / "dist" if distribution.name in older else dist
        try:
            return check_distribution(distribution, dist, constraints, scratch / distribution.name, dist_of_core)
        except CommandError as error:
            return "", [str(error)]

    failures = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for distribution, (finding, problems) in zip(distributions, pool.map(check, distributions), strict=True):
            mark, text = ("FAIL", "; ".join(problems)) if problems else ("ok", finding)
            print(f"{mark:<5} {distribution.name:<26} {text}", flush=True)
            failures += bool(problems)
    return failures


def check_distribution(
    distribution: Distribution, dist: Path, constraints: Path, venv: Path, dist_of_core: Path
) -> tuple[str, list[str]]:
    """Returns the findings and the problems for one distribution's wheel, with the core of a folder of wheels."""
    wheel = next(dist.glob(f"{distribution.prefix}-*.whl"), None)
    if wheel is None:
        return "", ["its wheel was not built"]
    problems = content_problems(wheel, distribution.package, distribution.announces)
    run("uv", "venv", "--quiet", "--python", sys.executable, venv, cwd=dist)
    python = venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    # uv keeps a wheel of this name from an earlier build.
    fresh = [f"--refresh-package={path.name.partition('-')[0]}" for path in dist.glob("*.whl")]

    (core,) = dist_of_core.glob(f"{CORE}-*.whl")

    def install(requirement: str) -> None:
        links = ("--find-links", dist, "--find-links", dist_of_core)
        options = ("--python", python, "--constraints", constraints, *links, *fresh)
        run("uv", "pip", "install", "--quiet", *options, *{requirement, str(core)}, cwd=dist)

    def smoke(*options: str) -> str:
        done = subprocess.run(
            [python, "-I", _SMOKE, distribution.name, *options],
            cwd=venv,
            env={**os.environ, "COLUMNS": "300"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            problems.append(_last_line(done.stderr))
        return done.stdout.strip()

    install(f"{wheel}{_EXTRAS.get(distribution.name, '')}")
    found = smoke("--announces") if distribution.announces else smoke()
    if distribution.announces and not problems:
        install(CLI)
        found = "; ".join(filter(None, (found, smoke("--commands"))))
    return found, problems


class CommandError(Exception):
    """A command that the check needs failed."""


def run(*command: str | Path, cwd: Path) -> None:
    """Runs a command without output.

    Raises:
      CommandError: it is not installed, or fails; the message contains its errors.
    """
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise CommandError(f"{command[0]} is not installed: pip install {command[0]}") from None
    if done.returncode != 0:
        raise CommandError(f"`{' '.join(map(str, command))}` failed:\n{done.stderr.strip()}")


def _read_toml(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text())


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it fails without a message"])[-1]


if __name__ == "__main__":
    main()
