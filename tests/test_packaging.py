"""Consistency of the metadata and READMEs of all distributions."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from envcore.suggestions import how_to_install
from envcore.version import __version__
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
FOLDERS = [
    found.parent for pattern in ("core", "packages/*", "plugins/*") for found in ROOT.glob(f"{pattern}/pyproject.toml")
]
OTHER_VERSION = "0.1.1"  # the newest `envcore` of another project on the package index


def project(folder):
    return tomllib.loads((folder / "pyproject.toml").read_text())["project"]


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def folder(request):
    return request.param


def test_its_version_is_above_the_other_envcore(folder):
    version = Version(project(folder).get("version", __version__))
    assert version > Version(OTHER_VERSION)


def test_its_requirements_exclude_the_other_envcore(folder):
    found = project(folder)
    extras = [line for lines in found.get("optional-dependencies", {}).values() for line in lines]
    ours = [each for each in map(Requirement, found["dependencies"] + extras) if each.name.startswith("envcore")]
    ours = [each for each in ours if each.name != found["name"]]  # an extra that combines others
    assert ours, "every distribution needs the core, and the core's extras need the suites"
    for requirement in ours:
        assert OTHER_VERSION not in requirement.specifier, requirement
        assert __version__ in requirement.specifier, requirement


def test_how_to_install_it_names_what_it_requires(folder):
    command = how_to_install(project(folder)["name"])
    for line in project(folder)["dependencies"]:
        required = Requirement(line).name
        if required.startswith("envcore-"):
            assert f"/{required.removeprefix('envcore-')} " in command, command


def test_the_core_has_an_extra_for_each_of_our_distributions():
    extras = project(ROOT / "core")["optional-dependencies"]
    ours = {project(folder)["name"].removeprefix("envcore-") for folder in FOLDERS if folder.name != "example"}
    assert set(extras) == ours - {"envcore"} | {"all", "cuda"}
    (everything,) = map(Requirement, extras["all"])
    # Ray and Warp are large, and Ray comes late to new versions of Python; an adapter is for those who use what it
    # adapts to.
    assert everything.extras == ours - {"adapters", "bridges", "envcore", "gymnax", "native", "ray"}


PACKAGES = sorted(path.parent for path in ROOT.glob("p*/*/src/*/__init__.py"))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_importing_a_package_imports_almost_nothing(package):
    paths = [str(ROOT / "core" / "src"), str(package.parent)]
    code = f"import sys; sys.path[:0] = {paths}; import json, {package.name}; print(json.dumps(list(sys.modules)))"
    process = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    modules = json.loads(process.stdout)
    ours = {name for name in modules if name.startswith("envcore")}
    assert ours <= {
        "envcore",
        "envcore.errors",
        "envcore.forks",
        "envcore.lazy",
        "envcore.suggestions",
        "envcore.version",
        package.name,
    }
    assert not {"importlib.metadata", "dataclasses", "inspect"} & set(modules)
