from __future__ import annotations

import runpy
import shutil
import tomllib
import zipfile
from pathlib import Path

import pytest

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
        "envcore-fused",
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
    failures = TOOL["report"](distributions, dist, constraints, tmp_path)

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
    assert good[2] == "makes, resets and steps WindyGridworld-v0, WindyGridworldKing-v0"
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


def test_a_distribution_that_was_not_built_fails(tmp_path):
    distribution = TOOL["Distribution"]("envcore-toy", True)
    finding, complaints = TOOL["check_distribution"](distribution, tmp_path, tmp_path / "constraints.txt", tmp_path)
    assert (finding, complaints) == ("", ["its wheel was not built"])


def test_a_failing_command_is_reported_with_its_output(tmp_path):
    error = TOOL["CommandError"]
    with pytest.raises(error, match=r"`uv no-such-command` failed:\n.*no-such-command"):
        TOOL["run"]("uv", "no-such-command", cwd=tmp_path)
    with pytest.raises(error, match="no-such-tool is not installed"):
        TOOL["run"]("no-such-tool", cwd=tmp_path)
