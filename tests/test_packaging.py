"""Consistency of the metadata and READMEs of all distributions."""

from __future__ import annotations

import re
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
    assert names == {"chex", "flax", "importlib-metadata", "jax", "jaxlib", "numpy", "packaging", "pluggy"}


def test_the_core_has_an_extra_for_each_of_our_distributions():
    extras = project(ROOT / "core")["optional-dependencies"]
    ours = {project(folder)["name"].removeprefix("envcore-") for folder in FOLDERS if folder.name != "example"}
    assert set(extras) == ours - {"envcore"} | {"all", "cuda"}
    (everything,) = map(Requirement, extras["all"])
    # Ray is large, and comes late to new versions of Python; an adapter is for those who use what it adapts to.
    assert everything.extras == ours - {"brax", "bridges", "dm-env", "envcore", "gymnasium", "gymnax", "ray"}
