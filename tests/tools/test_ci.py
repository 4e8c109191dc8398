"""What .ci/run does, on a machine whose tools only log their arguments; and consistency of the workflows."""

from __future__ import annotations

import re
import shutil
import subprocess
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


def workflow(name):
    return yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text())


class Checkout:
    """A minimal checkout with .ci, on a machine whose tools only log their arguments."""

    def __init__(self, folder):
        self.folder = folder / "checkout"
        self.tools = folder / "tools"
        self.log = folder / "log"
        self.tools.mkdir()
        shutil.copytree(ROOT / ".ci", self.folder / ".ci")
        (self.folder / "packages" / "suite").mkdir(parents=True)
        for name in ("alone", "clients", "craftax", "gymnax-clients", "lowest", "newest"):
            self.add(self.folder / "build" / name / "bin" / "python")
        self.add(self.tools / "uv", '[ "$2" != list ] || echo "jax 0"; [ "$2" != find ] || exit 2')
        self.add(self.tools / "apt-get", "exit 1")
        for name in ("bash", "basename", "dirname", "grep", "id", "ls", "mkdir", "nproc", "rm", "sed", "sleep", "wc"):
            (self.tools / name).symlink_to(shutil.which(name))
        for name in ("cat", "chmod", "mv"):
            (self.tools / name).symlink_to(shutil.which(name))

    def add(self, path, code=""):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "${{0##*/}} $@" >> "$LOG"\n{code}\n')
        path.chmod(0o755)

    def run(self, *steps, **variables):
        """Returns the finished process, and what the tools logged, in lines."""
        self.log.write_text("")
        environment = {"PATH": str(self.tools), "LOG": str(self.log), **variables}
        command = [self.folder / ".ci" / "run", *steps]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return done, self.log.read_text().splitlines()

    def steps(self, *steps, **variables):
        """The names of the steps that a run takes, which must pass."""
        done, _ = self.run(*steps, **variables)
        assert done.returncode == 0, done.stderr
        return {
            name for names in re.findall(r"^=== (\S+) \(after", done.stdout, re.MULTILINE) for name in names.split("+")
        }


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


@pytest.mark.parametrize("asked", ["nonsense", "lint+nonsense"])
def test_an_unknown_step_is_an_error(checkout, asked):
    done, _ = checkout.run(asked)
    assert (done.returncode, done.stderr) == (2, "error: there is no step nonsense\n")


@pytest.mark.parametrize("failing", ["pyright", "python", ""])
def test_steps_that_run_together_must_all_pass(checkout, failing):
    fails = 'until [ "$(wc -l < "$LOG")" -ge 2 ]; do sleep 0.01; done; exit 3'  # not before the other one has started
    checkout.add(checkout.tools / "uv", f'[ "$2" != "{failing}" ] || {{ {fails}; }}')
    done, asked = checkout.run("types+wheels", "contracts")
    assert done.returncode == (3 if failing else 0)
    assert len(asked) == (2 if failing else 3)


def test_a_run_without_a_browser_or_a_newer_python_says_so_and_passes(checkout):
    done, asked = checkout.run()
    assert done.returncode == 0, done.stderr
    skipped = [line for line in done.stderr.splitlines() if line.startswith("skipped: ")]
    assert [("Chromium" in line, "Python >= 3.12" in line) for line in skipped] == [(True, False), (False, True)]
    assert not any("chromium" in line for line in asked)


def test_only_the_machine_of_a_ci_service_gets_a_browser(checkout):
    checkout.add(checkout.tools / "apt-get")
    checkout.add(checkout.tools / "sudo", '"$@"')
    done, asked = checkout.run("browser", CI="true")
    assert done.returncode == 0, done.stderr
    assert asked[-1].startswith("apt-get install ")
    assert asked[-1].endswith(" chromium")
    checkout.add(checkout.tools / "chromium")
    assert checkout.run("browser", CI="true")[1] == []


def test_the_newest_jax_runs_on_a_python_that_is_named_or_installed(checkout):
    assert any("--python 3.14 " in line for line in checkout.run("newest", UV_PYTHON="3.14")[1])
    checkout.add(checkout.tools / "uv", '[ "$2" != list ] || echo "jax 0"; [ "$2" != find ] || echo /of/system')
    assert any("--python /of/system " in line for line in checkout.run("newest")[1])


def test_the_newest_jax_runs_on_debians_python(checkout):
    root = checkout.folder / "build" / "trixie"
    unpack = f"""
        mkdir -p {root}/usr/bin {root}/usr/lib64 {root}/usr/lib/any-linux-gnu
        printf '#!/bin/sh\\nprintf "%%s\\n" "$@"\\n' > {root}/usr/lib64/ld-linux-any.so.2
        chmod +x {root}/usr/lib64/ld-linux-any.so.2
    """
    checkout.add(checkout.tools / "mmdebstrap", unpack)
    checkout.add(checkout.tools / "apt-get", 'echo "mirror/of/apt"; echo "mirror/of/updates"')
    python = root / "usr" / "bin" / "python"

    done, asked = checkout.run("newest")
    assert done.returncode == 0, done.stderr
    assert any(line.endswith(f"trixie {root} mirror/of/apt") for line in asked)
    assert any(f"--python {python} " in line for line in asked)
    started = subprocess.run([python, "-c", "print(1)"], capture_output=True, text=True, check=True).stdout
    libraries, original = root / "usr" / "lib" / "any-linux-gnu", root / "usr" / "bin" / "python3"
    assert started.splitlines() == [
        *("--library-path", str(libraries), "--argv0", str(python), str(original), "-c", "print(1)")
    ]
    assert not any("mmdebstrap" in line for line in checkout.run("newest")[1])


@pytest.mark.parametrize("step", ["tests", "alone"])
def test_a_pull_request_runs_only_some_tests(checkout, step):
    (checkout.folder / "core").mkdir()
    everything = [line for line in checkout.run(step)[1] if "pytest" in line]
    some = [line for line in checkout.run(step, TESTS="packages/suite")[1] if "pytest" in line]
    assert some
    assert all(line.endswith(" packages/suite") for line in some)
    assert not all(line.endswith(" packages/suite") for line in everything)


def test_only_a_run_of_all_steps_leaves_proofs_out(checkout):
    of_one, of_all = (
        [line for line in checkout.run(*steps)[1] if "pytest -m slow" in line] for steps in (("tests",), ())
    )
    assert len(of_one) == len(of_all) == 2
    assert all("-m slow and not long " in line for line in of_all)
    assert not any("long" in line for line in of_one)
    assert ["--ignore=plugins/bridges" in line for line in of_all + of_one] == [True, False, False, False]


@pytest.mark.parametrize(
    ("tests", "rest", "optimized"),
    [
        (
            "",
            "core plugins tests",
            "packages plugins/baselines/tests/test_trained.py tests/test_devices.py tests/test_observations.py",
        ),
        ("core packages/suite", "core", "packages/suite"),
        ("packages", "", "packages"),
        ("plugins/runs", "plugins/runs", ""),
        ("tests/test_devices.py tests/test_params.py", "tests/test_params.py", "tests/test_devices.py"),
    ],
)
def test_each_slow_test_is_run_once(checkout, tests, rest, optimized):
    """Those of the environments and of trained agents are optimized."""
    asked = [line for line in checkout.run("tests", TESTS=tests)[1] if "pytest -m slow" in line]
    found = {"no:unoptimized" in line: line for line in asked}
    plain, as_users = found.get(False, ""), found.get(True, "")
    assert len(asked) == len(found)
    folders = [word for word in plain.partition(" -n ")[2].split()[1:] if not word.startswith("--ignore=")]
    ignored = [word.removeprefix("--ignore=") for word in plain.split() if word.startswith("--ignore=")]
    assert folders == rest.split()
    assert not set(folders) & set(ignored)
    assert as_users.partition(" no:unoptimized ")[2] == optimized


def test_each_distribution_is_tested_alone(checkout):
    (checkout.folder / "core").mkdir()
    (checkout.folder / "plugins" / "runs").mkdir(parents=True)
    asked = checkout.run("alone")[1]
    installed = [line.rpartition(" --package ")[2] for line in asked if " sync " in line]
    assert installed == ["envcore", "envcore-suite", "envcore-runs"]


def test_craftax_is_tested_in_an_environment_of_its_own(checkout):
    _, asked = checkout.run("exhaustive", LIBRARY="craftax")
    assert asked[0].endswith("--package envcore-bridges --extra craftax")
    assert asked[-1].startswith("python ")
    assert (ROOT / asked[-1].rpartition(" ")[2]).exists()


def test_the_jobs_of_ci_take_all_steps_on_every_python(checkout):
    matrix = workflow("ci.yml")["jobs"]["steps"]["strategy"]["matrix"]
    assert all(f'"{python}"' in matrix["python"] for python in PYTHONS)
    asked = {
        name for steps in (*matrix["steps"], *(job["steps"] for job in matrix["include"])) for name in steps.split()
    }
    assert asked == checkout.steps(UV_PYTHON="3.14") | {"alone"}


def test_pre_commit_runs_the_quick_steps(checkout):
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    entries = [hook["entry"] for repository in config["repos"] for hook in repository["hooks"]]
    _, asked = checkout.run("lock", "lint", "types", "contracts")
    assert sorted(entry.replace(" --force-exclude", "") for entry in entries) == sorted(
        line.replace(" format --check", " format") for line in asked
    )


def test_the_exhaustive_workflow_runs_every_library_that_has_such_tests():
    (job,) = workflow("exhaustive.yml")["jobs"].values()
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
