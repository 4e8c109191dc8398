"""Writes conda recipes of the core and the suites, from their pyproject.toml and the sdists in `dist`.

    uv build --all-packages
    uv run python tools/release/conda.py
    rattler-build build --recipe-dir dist/conda --channel conda-forge

conda-forge, whose packages of the requirements have the same names, builds from an address: there, `source` has the one
that the package index gives for the sdist, in place of the path.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tomllib
from pathlib import Path
from typing import Any

import yaml
from distributions import ROOT, Distribution, ReleaseError, find_distributions
from packaging.requirements import Requirement


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    root = parser.parse_args().root
    try:
        recipes = {
            each.name: recipe(root, each) for each in find_distributions(root) if each.folder.parent.name != "plugins"
        }
    except ReleaseError as error:
        sys.exit(f"error: {error}")
    for name, contents in recipes.items():
        path = root / "dist" / "conda" / name / "recipe.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(contents, sort_keys=False, width=120))
        print(path)


def recipe(root: Path, distribution: Distribution) -> dict[str, Any]:
    """The recipe of a distribution, for a package that serves every platform and Python.

    Raises:
      ReleaseError: its sdist has not been built.
    """
    pyproject = tomllib.loads((distribution.folder / "pyproject.toml").read_text())
    project, system = pyproject["project"], pyproject["build-system"]
    sdist = root / "dist" / distribution.file_names[0]
    if not sdist.exists():
        raise ReleaseError(f"{sdist.relative_to(root)} is missing: uv build --all-packages")
    python = f"python {project['requires-python']}"
    packages = [path.parent.name for path in distribution.folder.glob("src/*/__init__.py")]
    return {
        "schema_version": 1,
        "package": {"name": distribution.name, "version": distribution.version},
        "source": {
            "path": f"../../{sdist.name}",
            "sha256": hashlib.sha256(sdist.read_bytes()).hexdigest(),
        },
        "build": {
            "noarch": "python",
            "script": "${{ PYTHON }} -m pip install . --no-deps --no-build-isolation",
        },
        "requirements": {
            "host": [python, "pip", *map(_for_conda, system["requires"])],
            "run": [python, *map(_for_conda, project["dependencies"])],
        },
        "tests": [{"python": {"imports": packages, "pip_check": True}}],
        "about": {
            "summary": project["description"],
            "license": project["license"],
            "license_file": project["license-files"],
            "repository": project["urls"]["Repository"],
            "documentation": project["urls"]["Documentation"],
        },
    }


def _for_conda(line: str) -> str:
    """A requirement as conda writes it, such as "jax >=0.6.0"."""
    requirement = Requirement(line)
    if requirement.extras or requirement.marker:
        raise ReleaseError(f"a conda recipe cannot require {line!r}")
    return f"{requirement.name} {line.removeprefix(requirement.name).lstrip()}".rstrip()


if __name__ == "__main__":
    main()
