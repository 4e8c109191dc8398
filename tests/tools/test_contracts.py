"""Contracts of import-linter in which a folder stands for the packages in it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from wheels import ROOT, SUITES

SETTINGS = """
[tool.importlinter]
root_packages = ["base", "other"]
include_external_packages = true
contract_types = [
    "acyclic_siblings_by_folder: tools.contracts.by_folder.AcyclicSiblings",
    "forbidden_by_folder: tools.contracts.by_folder.Forbidden",
    "layers_by_folder: tools.contracts.by_folder.Layers",
]

[[tool.importlinter.contracts]]
name = "layers"
type = "layers_by_folder"
layers = ["suites/* | other", "base"]

[[tool.importlinter.contracts]]
name = "forbidden"
type = "forbidden_by_folder"
source_modules = ["suites/*"]
forbidden_modules = ["json"]

[[tool.importlinter.contracts]]
name = "acyclic"
type = "acyclic_siblings_by_folder"
ancestors = ["suites/*"]
"""


def lint(folder: Path) -> str:
    """What `lint-imports` prints of a folder, whose sources are on the path as if installed."""
    sources = [str(path) for path in folder.glob("suites/*/src")]
    code = f"import sys; sys.path += {[str(ROOT), *sources]}; from importlinter import cli; cli.lint_imports_command()"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    for package in ("base", "other", "suites/one/src/suite_one", "suites/two/src/suite_two"):
        (tmp_path / package).mkdir(parents=True)
        (tmp_path / package / "__init__.py").touch()
        (tmp_path / package / "a.py").write_text("import base\n" if package != "base" else "")
        (tmp_path / package / "b.py").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("imported", "broken"),
    [("", None), ("suite_one.a", "layers"), ("other.a", "layers"), ("json", "forbidden"), ("suite_two.a", "acyclic")],
)
def test_every_package_in_the_folder_is_under_the_contracts(folder: Path, imported: str, broken: str | None) -> None:
    package = folder / "suites" / "two" / "src" / "suite_two"
    (package / "b.py").write_text(f"import {imported}\n" if imported else "")
    (package / "a.py").write_text("import base, suite_two.b\n")
    output = lint(folder)
    for name in ("layers", "forbidden", "acyclic"):
        assert f"{name} {'BROKEN' if name == broken else 'KEPT'}" in output, output


def test_a_folder_without_packages_is_an_error(folder: Path) -> None:
    (folder / "pyproject.toml").write_text(SETTINGS.replace("suites/*", "suits/*"))
    assert "no distribution lies in suits/*" in lint(folder)


@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_is_named_in_two_files(suite: str) -> None:
    text = (ROOT / "pyproject.toml").read_text()
    settings = tomllib.loads(text)["tool"]
    assert suite in settings["uv"]["sources"]
    assert suite in str(
        tomllib.loads((ROOT / "core" / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    )
    package = suite.replace("-", "_")
    assert package not in settings["importlinter"]["root_packages"]
    assert package not in text
