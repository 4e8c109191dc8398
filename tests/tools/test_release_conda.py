from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rattler_build import Stage0Recipe
from tool_modules import TOOLS

ROOT = TOOLS.parent
PROJECT = """
[project]
name = "{name}"
version = "1.2"
description = "Walks."
requires-python = ">=3.11"
license = "Apache-2.0"
license-files = ["LICENSE"]
dependencies = {dependencies}
urls = {{ Repository = "https://example.org", Documentation = "https://example.org/docs" }}

[build-system]
requires = ["hatchling>=1.26"]
"""


def written(root: Path) -> dict[str, dict[str, Any]]:
    """The recipes of a repository, as rattler-build renders them, by the names of packages."""
    command = [sys.executable, TOOLS / "release" / "conda.py", "--root", root]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError(done.stderr)
    found: dict[str, dict[str, Any]] = {}
    for path in map(Path, done.stdout.splitlines()):
        (variant,) = Stage0Recipe.from_yaml(path.read_text()).render()
        found[path.parent.name] = variant.recipe.to_dict()
    return found


def add(root: Path, folder: str, name: str, dependencies: list[str]) -> None:
    package = root / folder / "src" / name.replace("-", "_")
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (root / folder / "CHANGELOG.md").touch()
    (root / folder / "pyproject.toml").write_text(PROJECT.format(name=name, dependencies=dependencies))
    (root / "dist").mkdir(exist_ok=True)
    (root / "dist" / f"{name.replace('-', '_')}-1.2.tar.gz").write_text(name)


def test_the_recipe_of_a_suite(tmp_path: Path) -> None:
    add(tmp_path, "packages/walks", "walks-rl", ["envcore>=0.2,<1", "numpy"])
    add(tmp_path, "plugins/walker", "walker", ["rich[jupyter]"])
    (recipe,) = written(tmp_path).values()
    assert recipe["package"] == {"name": "walks-rl", "version": "1.2"}
    assert recipe["requirements"]["run"] == ["python >=3.11", "envcore >=0.2,<1", "numpy"]
    assert recipe["source"][0]["sha256"] == hashlib.sha256(b"walks-rl").hexdigest()


@pytest.mark.parametrize("line", ["rich[jupyter]", "rich; python_version < '3.12'"])
def test_what_conda_cannot_require(tmp_path: Path, line: str) -> None:
    add(tmp_path, "core", "walks", [line])
    with pytest.raises(ValueError, match=r"error: a conda recipe cannot require .rich"):
        written(tmp_path)


def test_a_recipe_needs_the_sdist(tmp_path: Path) -> None:
    add(tmp_path, "core", "walks", [])
    shutil.rmtree(tmp_path / "dist")
    with pytest.raises(ValueError, match=r"error: dist/walks-1\.2\.tar\.gz is missing: uv build --all-packages"):
        written(tmp_path)
