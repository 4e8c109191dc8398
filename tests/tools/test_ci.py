"""The steps of .ci/run and the workflows fit together."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.markers import Marker

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CLASSIFIER = "Programming Language :: Python :: "
PYTHONS = [
    line.removeprefix(CLASSIFIER)
    for line in tomllib.loads((ROOT / "core" / "pyproject.toml").read_text())["project"]["classifiers"]
    if line.startswith(CLASSIFIER)
]


RUN = (ROOT / ".ci" / "run").read_text()
STEPS = set(re.findall(r"^step_(\w+)\(\)", RUN, re.MULTILINE))
STEPS_THAT_TAKE_LONG = {"alone", "exhaustive", "long", "wheels"}


def workflow(name):
    return yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text())


def steps_of(name):
    """The steps of .ci/run that a workflow's matrix names."""
    text = (ROOT / ".github" / "workflows" / name).read_text()
    return STEPS & set(re.findall(r"\w+", " ".join(re.findall(r"\bsteps?: (.*)", text))))


def test_the_workflows_run_all_steps_on_every_python():
    assert steps_of("ci.yml") == STEPS - STEPS_THAT_TAKE_LONG
    assert steps_of("scheduled.yml") == STEPS_THAT_TAKE_LONG
    matrix = workflow("ci.yml")["jobs"]["steps"]["strategy"]["matrix"]
    assert all(f'"{python}"' in matrix["python"] for python in PYTHONS)


def test_pre_commit_runs_the_quick_steps():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    entries = [hook["entry"] for repository in config["repos"] for hook in repository["hooks"]]
    assert entries
    assert all(
        entry.replace(" --force-exclude", "") in RUN.replace(" --check", "") + "uv lock --check" for entry in entries
    )


def test_the_scheduled_workflow_runs_every_library_that_has_exhaustive_tests():
    (job,) = workflow("scheduled.yml")["jobs"].values()
    with_tests = [path for path in (ROOT / "plugins").glob("*/tests/*.py") if "mark.exhaustive" in path.read_text()]
    of_their_own = (ROOT / "plugins" / "bridges" / "tests" / "clients").glob("test_*.py")
    names = [path.stem.removeprefix("test_").replace("_", "-") for path in (*with_tests, *of_their_own)]
    assert job["strategy"]["matrix"]["library"] == sorted(names)


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_file_has_jax_for_every_supported_python(python):
    lock = tomllib.loads((ROOT / "uv.lock").read_text())
    assert lock["requires-python"] == f">={PYTHONS[0]}"
    here = {"python_full_version": f"{python}.0", "sys_platform": "linux"}
    tag = f"cp{python.replace('.', '')}"
    for name in ("jaxlib", "numpy"):
        releases = [each for each in lock["package"] if each["name"] == name]
        fitting = [each for each in releases if any(Marker(m).evaluate(here) for m in each["resolution-markers"])]
        assert any(f"-{tag}-manylinux" in wheel["url"] for each in fitting for wheel in each["wheels"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_have_few_permissions_and_pin_their_actions(path):
    text = path.read_text()
    permissions = yaml.safe_load(text)["permissions"]
    assert permissions in ({}, {"contents": "read"})
    actions = re.findall(r"uses: (\S+)", text)
    assert actions
    ours = {f"./.github/workflows/{each.name}" for each in WORKFLOWS}
    assert all(re.fullmatch(r"[\w/.-]+@v\d+", action) for action in actions if action not in ours)
    assert "secrets." not in text


def commands(job):
    return [step["run"] for step in job["steps"] if "run" in step]


def test_a_release_publishes_the_checked_wheels_by_oidc():
    jobs = workflow("release.yml")["jobs"]
    assert commands(jobs["build"]) == [".ci/run wheels", "ls $(python3 tools/release --files)"]
    publish = jobs["publish"]
    assert publish["permissions"] == {"contents": "read", "id-token": "write"}
    sign, upload = commands(publish)
    assert sign.endswith("pypi-attestations sign $(python3 tools/release --files)")
    assert upload.startswith("uv publish $(python3 tools/release --files")
    options = {step["uses"].partition("@")[0]: step.get("with") for step in publish["steps"] if "uses" in step}
    assert options["actions/checkout"]["fetch-depth"] == 2  # the commit before, to see which change logs are dated
    assert options["actions/download-artifact"] == {"name": "dist", "path": "dist"}


def test_a_release_is_published_only_after_all_checks_have_passed():
    jobs = workflow("release.yml")["jobs"]
    assert jobs["checks"] == {"uses": "./.github/workflows/ci.yml"}
    assert "workflow_call" in workflow("ci.yml")[True]  # YAML 1.1 reads the key `on` as a bool
    assert jobs["publish"]["needs"] == ["checks", "build"]


def test_a_release_by_hand_is_a_dry_run():
    assert set(workflow("release.yml")[True]) == {"push", "workflow_dispatch"}
    assert workflow("release.yml")["jobs"]["publish"]["if"] == "github.event_name == 'push'"
