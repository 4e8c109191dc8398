"""Consistency of the metadata and READMEs of all distributions."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
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


def test_its_project_urls(folder):
    urls, name = project(folder)["urls"], folder.relative_to(ROOT).as_posix()
    repository = project(ROOT / "core")["urls"]["Repository"]
    assert urls["Repository"] == repository
    assert urls["Issues"] == f"{repository}/issues"
    assert urls["Documentation"] == f"{repository}/tree/main/{name}#readme"
    assert (folder / "README.md").exists()
    if "Changelog" in urls:
        assert urls["Changelog"] == f"{repository}/blob/main/{name}/CHANGELOG.md"
        assert (folder / "CHANGELOG.md").exists()


@pytest.mark.parametrize("readme", [*(folder / "README.md" for folder in FOLDERS), ROOT / "README.md"], ids=str)
def test_commands_of_a_readme_install_the_core_from_the_clone(readme):
    """The package index would install the other project."""
    blocks = re.findall(r"^```bash\n(.*?)^```$", readme.read_text(), re.DOTALL | re.MULTILINE)
    installs = [each for block in blocks for each in re.findall(r"pip install ([^&\n]*)", block)]
    of_ours = [each for each in installs if re.search(r"\./|--editable|envcore", each)]
    assert of_ours, "the README does not say how to install"
    for arguments in of_ours:
        assert re.search(r"(^| )(\./|\.\./envcore/)core( |$)", arguments), arguments
        assert not re.search(r"(^| )'?envcore", arguments), arguments


def test_the_core_is_thin():
    names = {Requirement(line).name for line in project(ROOT / "core")["dependencies"]}
    assert names == {"flax", "importlib-metadata", "jax", "jaxlib", "numpy", "packaging", "pluggy"}


def test_the_core_has_an_extra_for_each_of_our_distributions():
    extras = project(ROOT / "core")["optional-dependencies"]
    ours = {project(folder)["name"].removeprefix("envcore-") for folder in FOLDERS if folder.name != "example"}
    assert set(extras) == ours - {"envcore"} | {"all", "cuda"}
    (everything,) = map(Requirement, extras["all"])
    # Ray and Warp are large, and Ray comes late to new versions of Python; an adapter is for those who use what it
    # adapts to.
    assert everything.extras == ours - {"adapters", "bridges", "envcore", "gymnax", "native", "ray"}


LAZY = [path for path in sorted(ROOT.glob("p*/*/src/*/__init__.py")) if "lazy_names(" in path.read_text()]


@pytest.mark.parametrize("path", LAZY, ids=lambda path: path.parent.name)
def test_type_checkers_see_the_names_that_a_package_imports_on_first_use(path):
    package = importlib.import_module(path.parent.name)
    (block,) = (node for node in ast.parse(path.read_text()).body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    imported = {alias.name: str(node.module) for node in imports for alias in node.names}
    assert sorted(imported) == package.__all__
    for name, module in imported.items():
        assert getattr(package, name) is getattr(importlib.import_module(module), name), name


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


PLUGINS = [
    plugin
    for folder in FOLDERS
    for plugin in project(folder).get("entry-points", {}).get("envcore.plugins", {}).values()
]


@pytest.mark.parametrize("plugin", PLUGINS)
def test_announcing_environments_and_commands_imports_nothing_heavy(plugin):
    code = f"import json, sys, {plugin}; print(json.dumps(sorted(sys.modules)))"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"PIL", "chex", "flax", "jax", "jaxlib", "numpy", "rich", "typer"}
    assert not heavy & set(json.loads(process.stdout))
