from __future__ import annotations

import runpy
import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]
TOOL = runpy.run_path(str(ROOT / "tools" / "check_wheels"), run_name="check_wheels")

FILES = {
    "envcore_toy/__init__.py": "",
    "envcore_toy/py.typed": "",
    "envcore_toy-1.0.dist-info/METADATA": "Metadata-Version: 2.4\nName: envcore-toy\nVersion: 1.0\n\n# What it is\n",
    "envcore_toy-1.0.dist-info/entry_points.txt": "[envcore.plugins]\ntoy = envcore_toy.plugin\n",
    "envcore_toy-1.0.dist-info/licenses/LICENSE": "Apache-2.0",
}


def problems(folder, files, announces=True):
    wheel = folder / "envcore_toy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return TOOL["content_problems"](wheel, "envcore_toy", announces)


def test_a_good_wheel_has_no_problems(tmp_path):
    assert problems(tmp_path, FILES) == []


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"envcore_toy/py.typed": None}, "the wheel has no envcore_toy/py.typed"),
        ({"envcore_toy-1.0.dist-info/licenses/LICENSE": None}, "the wheel has no LICENSE"),
        (
            {"envcore_toy-1.0.dist-info/entry_points.txt": "[console_scripts]\ntoy = envcore_toy:main\n"},
            "the wheel has no entry point in the group envcore.plugins",
        ),
        ({"envcore_toy-1.0.dist-info/METADATA": "Metadata-Version: 2.4\nName: x\n"}, "the wheel has no README"),
        ({"envcore_toy/tests/data.txt": ""}, "the wheel contains envcore_toy/tests/data.txt"),
        ({"envcore_toy/test_toy.py": ""}, "the wheel contains envcore_toy/test_toy.py"),
        ({"tools/new.py": ""}, "the wheel installs tools"),
    ],
)
def test_a_wheel_with_the_wrong_contents(tmp_path, changes, complaint):
    files = {name: text for name, text in {**FILES, **changes}.items() if text is not None}
    assert problems(tmp_path, files) == [complaint]


def test_the_core_needs_no_entry_point(tmp_path):
    files = {name: text for name, text in FILES.items() if "entry_points" not in name}
    assert problems(tmp_path, files, announces=False) == []


def test_every_distribution_of_the_workspace_is_found():
    found = TOOL["find_distributions"](ROOT)
    folders = [ROOT / "core", *(ROOT / "packages").iterdir(), *(ROOT / "plugins").iterdir()]
    projects = [tomllib.loads((folder / "pyproject.toml").read_text())["project"] for folder in folders]
    assert {each.name for each in found} == {project["name"] for project in projects}
    assert found[0].name == "envcore"
    assert {each.name for each in found if not each.announces} == {
        "envcore",
        "envcore-adapters",
        "envcore-cli",
        "envcore-native",
        "envcore-gymnax",
        "envcore-runs",
    }


@pytest.mark.slow
def test_bad_distributions_fail_beside_good_ones(tmp_path, capsys):
    """A workspace of the core, the command line and three variants of the example: unchanged, empty, and with a bug."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "pyproject.toml").write_text('[tool.uv.workspace]\nmembers = ["core", "plugins/*"]\n')
    for folder in ("core", "plugins/cli", "plugins/runs"):
        shutil.copytree(ROOT / folder, workspace / folder, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    copy_example(workspace, "good")
    empty = copy_example(workspace, "empty")
    (empty / "plugin.py").write_text(
        "from envcore.plugins import hookimpl\n\n\n@hookimpl\ndef envcore_env_specs():\n    return []\n"
    )
    buggy = copy_example(workspace, "buggy")
    (buggy / "windy_gridworld.py").write_text("raise RuntimeError('a bug')\n")

    distributions = TOOL["find_distributions"](workspace)
    dist = tmp_path / "dist"
    TOOL["build"](workspace, dist)
    constraints = TOOL["export_lock"](ROOT, tmp_path)
    failures = TOOL["report"](distributions, dist, constraints, tmp_path, {})

    core, cli, runs, *others = capsys.readouterr().out.splitlines()
    assert core.split(maxsplit=2) == ["ok", "envcore", "says that nothing is installed"]
    assert cli.split(maxsplit=2) == ["ok", "envcore-cli", "lists that nothing is installed"]
    assert runs.split()[:2] == ["ok", "envcore-runs"]
    buggy, empty, good = (line.split(maxsplit=2) for line in others)
    assert (buggy[:2], empty[:2], good[:2]) == (
        ["FAIL", "envcore-buggy"],
        ["FAIL", "envcore-empty"],
        ["ok", "envcore-good"],
    )
    assert "RuntimeError: a bug" in buggy[2]
    assert empty[2] == "announces no environments and no commands"
    assert good[2] == "makes, resets and steps WindyGridworld-v0"
    assert failures == 2


def copy_example(workspace, name):
    """A distribution envcore-NAME like plugins/example; returns the folder of its package."""
    folder = workspace / "plugins" / name
    shutil.copytree(ROOT / "plugins" / "example", folder, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    package = folder / "src" / f"envcore_{name}"
    (folder / "src" / "envcore_example").rename(package)
    for path in (folder / "pyproject.toml", *package.glob("*.py")):
        text = path.read_text().replace("envcore-example", f"envcore-{name}")
        path.write_text(text.replace("envcore_example", f"envcore_{name}"))
    return package


def git(folder, *arguments):
    command = ["git", "-c", "user.name=Nobody", "-c", "user.email=nobody@example.org", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def test_the_oldest_released_core_that_a_bound_allows(tmp_path):
    """Core 0.9.0 is in two releases, of which the second is of something else."""
    version, root = tmp_path / "root" / "core" / "src" / "envcore" / "version.py", tmp_path / "root"
    version.parent.mkdir(parents=True)
    git(root, "init")
    for number, tag in (("0.9.0", "2026-12-01"), ("0.9.0", "2026-12-02"), ("0.10.0", "2026-12-02.2"), ("0.11.0", "")):
        version.write_text(f'__version__ = "{number}"\n')
        git(root, "add", ".")
        git(root, "commit", "--allow-empty", "--message", number)
        if tag:
            git(root, "tag", "--annotate", "--message", tag, f"release-{tag}")
    bounds = {"none": None, "any": "", "a": ">=0.9,<1", "b": ">=0.9.1,<1", "c": ">=0.11"}
    bounds = {name: bound if bound is None else SpecifierSet(bound) for name, bound in bounds.items()}
    folders = TOOL["check_out_oldest"](root, bounds, tmp_path)
    first, second = tmp_path / "release-2026-12-01", tmp_path / "release-2026-12-02.2"
    assert folders == {"any": first, "a": first, "b": second}
    texts = [(folder / version.relative_to(root)).read_text() for folder in (first, second)]
    assert texts == ['__version__ = "0.9.0"\n', '__version__ = "0.10.0"\n']


@pytest.mark.slow
def test_a_bound_that_is_too_low_fails(tmp_path, capsys):
    """The example uses what the core has got since its release, whose version its bound allows."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "pyproject.toml").write_text('[tool.uv.workspace]\nmembers = ["core", "plugins/*"]\n')
    for folder in ("core", "plugins/cli", "plugins/runs", "plugins/example"):
        shutil.copytree(ROOT / folder, workspace / folder, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    version = workspace / "core" / "src" / "envcore" / "version.py"
    version.write_text('__version__ = "0.98.0"\n')
    git(workspace, "init")
    git(workspace, "add", ".")
    git(workspace, "commit", "--message", "A release.")
    git(workspace, "tag", "release-2026-12-01")
    version.write_text('__version__ = "0.99.0"\n')
    version.with_name("news.py").write_text("")
    with (workspace / "plugins" / "example" / "src" / "envcore_example" / "windy_gridworld.py").open("a") as module:
        module.write("import envcore.news\n")
    TOOL["build"](workspace, tmp_path / "dist")
    constraints = TOOL["export_lock"](ROOT, tmp_path)
    (example,) = (each for each in TOOL["find_distributions"](workspace) if each.name == "envcore-example")

    def check(lowest):
        folder = tmp_path / lowest
        folder.mkdir()
        older = TOOL["check_out_oldest"](workspace, {example.name: SpecifierSet(f">={lowest},<1")}, folder)
        for checkout in older.values():
            TOOL["build"](checkout, checkout / "dist")
        failures = TOOL["report"]([example], tmp_path / "dist", constraints, folder, older)
        return failures, capsys.readouterr().out

    assert example.bound is not None
    assert "0.98" in example.bound
    failures, said = check("0.98")
    assert (failures, "No module named 'envcore.news'" in said) == (1, True)
    failures, said = check("0.99")
    assert (failures, said.split()[0]) == (0, "ok")


def test_a_distribution_that_was_not_built_fails(tmp_path):
    distribution = TOOL["Distribution"]("envcore-toy", "envcore_toy", True)
    finding, complaints = TOOL["check_distribution"](distribution, tmp_path, tmp_path / "none.txt", tmp_path, tmp_path)
    assert (finding, complaints) == ("", ["its wheel was not built"])


def test_a_failing_command_is_reported_with_its_output(tmp_path):
    error = TOOL["CommandError"]
    with pytest.raises(error, match=r"`uv no-such-command` failed:\n.*no-such-command"):
        TOOL["run"]("uv", "no-such-command", cwd=tmp_path)
    with pytest.raises(error, match="no-such-tool is not installed"):
        TOOL["run"]("no-such-tool", cwd=tmp_path)
