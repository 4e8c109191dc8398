"""What CI, the README and the distributions say about each other."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
RUN = ROOT / ".ci" / "run"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def steps():
    """The steps that .ci/run knows, each with its commands."""
    found = re.findall(r"^step_(\w+)\(\) \{\n(.*?)^\}", RUN.read_text(), re.MULTILINE | re.DOTALL)
    return {name: [line.strip() for line in body.splitlines()] for name, body in found}


def core():
    return tomllib.loads((ROOT / "core" / "pyproject.toml").read_text())["project"]


def workflow(name):
    return yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text())


def test_the_readme_and_ci_run_the_tests_alike():
    commands = re.findall(r"^pip install uv && (uv run pytest.*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(commands) == 1
    assert commands[0] in steps()["tests"]


def test_the_oldest_jax_is_the_one_that_core_claims(tmp_path):
    """Runs the step with tools that only write down what they are asked for."""
    checkout = tmp_path / "checkout"
    for path in (Path(".ci/run"), Path("core/pyproject.toml")):
        (checkout / path).parent.mkdir(parents=True)
        shutil.copy(ROOT / path, checkout / path)
    (checkout / "packages" / "suite").mkdir(parents=True)
    (checkout / "plugins" / "other").mkdir(parents=True)
    python = checkout / "build" / "oldest" / "bin" / "python"
    python.parent.mkdir(parents=True)
    uv = tmp_path / "uv"
    for tool in (uv, python):
        tool.write_text('#!/bin/sh\necho "$@" >> "$LOG"\n[ "$2" != list ] || echo "jax 0"\n')
        tool.chmod(0o755)
    variables = {"PATH": f"{tmp_path}:/usr/bin:/bin", "LOG": str(tmp_path / "log")}
    done = subprocess.run(
        [checkout / ".ci" / "run", "oldest"], env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

    bounds = {re.split("[>=]+", line)[0]: re.split("[>=]+", line)[1] for line in core()["dependencies"]}
    asked = (tmp_path / "log").read_text()
    assert f"jax=={bounds['jax']} jaxlib=={bounds['jaxlib']}\n" in asked
    assert "--editable core --editable packages/suite --editable plugins/other" in asked
    assert "-m pytest --numprocesses=2 -m not slow" in asked


def test_an_unknown_step_is_an_error():
    done = subprocess.run([RUN, "nonsense"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: there is no step nonsense\n"


def test_the_workflow_runs_every_step_on_every_python():
    matrix = workflow("ci.yml")["jobs"]["steps"]["strategy"]["matrix"]
    jobs = list(itertools.product(matrix["python"], matrix["steps"]))
    assert all((row["python"], row["steps"]) in jobs for row in matrix["exclude"])
    jobs += [(row["python"], row["steps"]) for row in matrix["include"]]
    assert {step for _, names in jobs for step in names.split()} == set(steps())

    prefix = "Programming Language :: Python :: "
    claimed = [each.removeprefix(prefix) for each in core()["classifiers"] if each.startswith(prefix)]
    assert matrix["python"] == claimed
    assert core()["requires-python"] == f">={claimed[0]}"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_ask_for_little_and_pin_their_actions(path):
    text = path.read_text()
    permissions = yaml.safe_load(text)["permissions"]
    assert permissions in ({}, {"contents": "read"})
    actions = re.findall(r"uses: (\S+)", text)
    assert actions
    assert all(re.fullmatch(r"[\w/.-]+@(v\d+|release/v\d+)", action) for action in actions)
    assert "secrets." not in text


def test_a_release_publishes_by_oidc_what_the_wheel_check_has_tried():
    jobs = workflow("release.yml")["jobs"]
    assert any(step.get("run") == ".ci/run wheels" for step in jobs["build"]["steps"])
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}


@pytest.mark.parametrize(
    ("tag", "stem"),
    [("envcore-v0.1.0", "envcore-0.1.0"), ("envcore-classic-control-v1.2.3rc1", "envcore_classic_control-1.2.3rc1")],
)
def test_a_tag_names_the_files_of_one_distribution(tmp_path, tag, stem):
    script = next(
        step["run"] for step in workflow("release.yml")["jobs"]["build"]["steps"] if "stem" in step.get("run", "")
    )
    names = {f"{each}{end}" for each in (stem, "envcore_misc-0.1.0") for end in (".tar.gz", "-py3-none-any.whl")}
    (tmp_path / "dist").mkdir()
    for name in names:
        (tmp_path / "dist" / name).touch()
    variables = {"PATH": "/usr/bin:/bin", "GITHUB_REF_NAME": tag}
    subprocess.run(["bash", "-euc", script], cwd=tmp_path, env=variables, check=True)
    assert {path.name for path in (tmp_path / "release").iterdir()} == {name for name in names if name.startswith(stem)}


def test_pre_commit_runs_the_quick_steps():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    hooks = [hook for repository in config["repos"] for hook in repository["hooks"]]
    assert {repository["repo"] for repository in config["repos"]} == {"local"}
    assert {hook["language"] for hook in hooks} == {"system"}
    commands = {hook["entry"].replace(" --force-exclude", "") for hook in hooks}
    quick = {line.replace(" --check", "") for name in ("lint", "types", "contracts") for line in steps()[name]}
    assert commands == quick | {"uv lock --check"}
