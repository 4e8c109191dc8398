"""Consistency of CI, the README and the distributions."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.markers import Marker
from packaging.version import Version

ROOT = Path(__file__).parents[2]
THE_CORE = (
    "core/tests packages/classic-control plugins/runs/tests/test_export.py plugins/runs/tests/test_program_cache.py"
)
RUN = ROOT / ".ci" / "run"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def steps():
    """The steps of .ci/run, each with its commands."""
    found = re.findall(r"^step_(\w+)\(\) \{\n(.*?)^\}", RUN.read_text(), re.MULTILINE | re.DOTALL)
    lines = {name: [line.strip() for line in body.splitlines()] for name, body in found}
    return {name: [line for line in body if not line.startswith("#")] for name, body in lines.items()}


def core():
    return tomllib.loads((ROOT / "core" / "pyproject.toml").read_text())["project"]


def claimed_pythons():
    prefix = "Programming Language :: Python :: "
    return [each.removeprefix(prefix) for each in core()["classifiers"] if each.startswith(prefix)]


def workflow(name):
    return yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text())


def test_the_readme_and_ci_run_the_same_tests(checkout):
    commands = re.findall(r"^pip install uv && (uv run pytest.*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(commands) == 1
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    assert settings["testpaths"] == ["core/tests", "packages", "plugins", "tests"]
    optimized = ["packages", "tests/test_devices.py", "plugins/baselines/tests/test_trained.py"]
    assert all((ROOT / path).exists() for path in optimized)
    assert checkout.run("tests")[0].splitlines() == [
        commands[0],
        " ".join(
            [
                *(commands[0], "-m slow -n", str(len(os.sched_getaffinity(0)) + 1), "core/tests plugins tests"),
                *(f"--ignore={path}" for path in optimized),
            ]
        ),
        " ".join([commands[0], "-m slow -p no:unoptimized", *optimized]),
    ]


def test_all_steps_but_the_exhaustive_one_run_by_default():
    defaults = re.findall(r"^    set -- (.*)$", RUN.read_text(), re.MULTILINE)
    assert [set(re.split("[ +]", line)) for line in defaults] == [set(steps()) - {"exhaustive"}]


def test_marked_tests_run_only_when_asked_for():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    names = {each.partition(":")[0] for each in settings["markers"]}
    assert names == {"slow", "exhaustive", "client"}
    _, expression = settings["addopts"][-2:]
    assert set(expression.split(" and ")) == {f"not {name}" for name in names}


def test_the_exhaustive_workflow_runs_every_library_that_has_such_tests():
    (job,) = workflow("exhaustive.yml")["jobs"].values()
    with_tests = [path for path in (ROOT / "plugins").glob("*/tests/*.py") if "mark.exhaustive" in path.read_text()]
    assert {path.parts[-3] for path in with_tests} == {"bridges"}
    of_their_own = (ROOT / "plugins" / "bridges" / "tests" / "clients").glob("test_*.py")
    names = [path.stem.removeprefix("test_").replace("_", "-") for path in (*with_tests, *of_their_own)]
    assert job["strategy"]["matrix"]["library"] == sorted([*names, "gpu-programs"])
    (step,) = (step for step in job["steps"] if "run" in step)
    assert (step["run"], step["env"]) == (".ci/run exhaustive", {"LIBRARY": "${{ matrix.library }}"})


@pytest.mark.parametrize(
    ("variables", "tests"), [({}, "plugins/"), ({"LIBRARY": "navix"}, "plugins/bridges/tests/test_navix.py")]
)
def test_the_exhaustive_tests_of_one_library(checkout, variables, tests):
    assert (ROOT / tests).exists()
    command = "uv run pytest -m exhaustive -p no:program_cache"
    assert checkout.run("exhaustive", **variables)[0] == f"{command} {tests}\n"


def test_the_programs_for_gpus_are_compiled_with_their_compilers(checkout):
    (command,) = checkout.run("exhaustive", LIBRARY="gpu-programs")[0].splitlines()
    *_, first, second = command.split()
    options = "--group gpu-compiler --with nvidia-cuda-nvdisasm"
    assert command == f"uv run {options} pytest -m exhaustive {first} {second}"
    assert all("mark.exhaustive" in (ROOT / path).read_text() for path in (first, second))


@pytest.mark.parametrize("library", ["craftax", "gymnax", "kinetix", "popgym-arcade"])
def test_libraries_with_gymnax_s_interface_are_tested_in_environments_of_their_own(checkout, library):
    checkout.add(checkout.folder / "build" / library / "bin" / "python")
    sync, install, pytest_ = checkout.run("exhaustive", LIBRARY=library)[0].splitlines()
    assert sync.endswith(f"--package envcore-bridges --extra {library}")
    assert f"--python build/{library}" in install
    (path,) = re.findall(r"-m client .*?(plugins/\S+)$", pytest_)
    assert (ROOT / path).exists()


class Checkout:
    """A minimal checkout with .ci/run, on a machine whose tools only log their arguments."""

    def __init__(self, folder):
        self.folder = folder / "checkout"
        self.tools = folder / "tools"
        self.log = folder / "log"
        for path in (Path(".ci/run"), Path("core/pyproject.toml")):
            (self.folder / path).parent.mkdir(parents=True)
            shutil.copy(ROOT / path, self.folder / path)
        (self.folder / "packages" / "suite").mkdir(parents=True)
        self.tools.mkdir()
        for environment in ("oldest", "newest", "clients", "gymnax-clients", "gymnax"):
            self.add(self.folder / "build" / environment / "bin" / "python")
        self.add(self.tools / "uv", '[ "$2" != list ] || echo "jax 0"; [ "$2" != find ] || exit 2')

    def add(self, path, code=""):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "$(basename "$0") $@" >> "$LOG"\n{code}\n')
        path.chmod(0o755)

    def run(self, *steps, **variables):
        """Returns the log of the tools, and the errors of the steps, by default of all."""
        self.log.write_text("")
        environment = {"PATH": f"{self.tools}:/usr/bin:/bin", "LOG": str(self.log), **variables}
        command = [self.folder / ".ci" / "run", *steps]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return self.log.read_text(), done.stderr


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


def test_the_oldest_jax_is_the_lower_bound_of_core(checkout):
    bounds = {re.split("[>=]+", line)[0]: re.split("[>=]+", line)[1] for line in core()["dependencies"]}
    asked, _ = checkout.run("oldest")
    assert f"jax=={bounds['jax']} jaxlib=={bounds['jaxlib']}\n" in asked
    assert "--editable core --editable packages/suite --editable plugins/baselines" in asked
    tests = f"{THE_CORE} plugins/baselines plugins/adapters/tests/gymnasium"
    assert asked.endswith(f"python -m pytest {tests}\n")  # without the slow ones


def test_a_run_of_all_steps_runs_less_on_other_releases(checkout):
    checkout.add(checkout.tools / "chromium")
    asked, _ = checkout.run(UV_PYTHON="3.14")
    assert asked.count(f"python -m pytest {THE_CORE}\n") == 2


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

    asked, _ = checkout.run("newest")
    assert f"trixie {root} mirror/of/apt\n" in asked
    assert f"uv venv --quiet --clear --python {python} build/newest\n" in asked
    assert "--editable plugins/baselines[examples] --editable plugins/adapters[gymnasium] jax jaxlib\n" in asked
    tests = f"{THE_CORE} plugins/baselines plugins/adapters/tests/gymnasium"
    assert asked.endswith(f"python -m pytest {tests}\n")

    started = subprocess.run([python, "-c", "print(1)"], capture_output=True, text=True, check=True).stdout
    libraries = root / "usr" / "lib" / "any-linux-gnu"
    original = root / "usr" / "bin" / "python3"
    assert started.splitlines() == [
        *("--library-path", str(libraries), "--argv0", str(python), str(original), "-c", "print(1)")
    ]
    again, _ = checkout.run("newest")
    assert "mmdebstrap" not in again


def test_the_newest_jax_runs_on_an_installed_python(checkout):
    checkout.add(checkout.tools / "mmdebstrap", "exit 1")
    assert "--python 3.14 build/newest" in checkout.run("newest", UV_PYTHON="3.14")[0]
    checkout.add(checkout.tools / "uv", '[ "$2" != list ] || echo "jax 0"; [ "$2" != find ] || echo /of/system')
    asked, _ = checkout.run("newest")
    assert "--python /of/system build/newest" in asked
    assert "mmdebstrap" not in asked


def test_the_newest_jax_is_skipped_without_a_python_for_it(checkout):
    checkout.add(checkout.tools / "apt-get", "echo mirror")
    checkout.add(checkout.tools / "mmdebstrap", "exit 1")
    asked, errors = checkout.run("newest")
    assert errors.startswith("skipped: there is no Python >= 3.12 here")
    assert "-m pytest" not in asked


@pytest.mark.parametrize("python", claimed_pythons())
def test_the_lock_file_has_jax_for_every_supported_python(python):
    lock = tomllib.loads((ROOT / "uv.lock").read_text())
    assert lock["requires-python"] == core()["requires-python"]
    here = {"python_full_version": f"{python}.0", "sys_platform": "linux"}
    tag = f"cp{python.replace('.', '')}"
    for name in ("jaxlib", "numpy"):
        releases = [each for each in lock["package"] if each["name"] == name]
        fitting = [each for each in releases if any(Marker(m).evaluate(here) for m in each["resolution-markers"])]
        newest = max(fitting, key=lambda each: Version(each["version"]))  # Kinetix's extra has an older one of its own
        assert any(f"-{tag}-manylinux" in wheel["url"] for wheel in newest["wheels"])


@pytest.mark.parametrize("asked", ["nonsense", "lint+nonsense"])
def test_an_unknown_step_is_an_error(asked):
    done = subprocess.run([RUN, asked], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: there is no step nonsense\n"


@pytest.mark.parametrize("failing", ["pyright", "python", ""])
def test_steps_that_run_together_must_all_pass(checkout, failing):
    fails = 'until [ "$(wc -l < "$LOG")" -ge 2 ]; do sleep 0.01; done; exit 3'  # not before the other one has started
    checkout.add(checkout.tools / "uv", f'[ "$2" != "{failing}" ] || {{ {fails}; }}')
    command = [checkout.folder / ".ci" / "run", "types+wheels", "contracts"]
    environment = {"PATH": f"{checkout.tools}:/usr/bin:/bin", "LOG": str(checkout.log)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    asked = sorted(checkout.log.read_text().splitlines())
    together = ["uv run pyright", "uv run python tools/check_wheels"]
    assert (done.returncode, asked) == (
        (3, sorted(together)) if failing else (0, sorted([*together, "uv run lint-imports"]))
    )


def test_the_workflow_runs_every_step_on_every_python():
    matrix = workflow("ci.yml")["jobs"]["steps"]["strategy"]["matrix"]
    jobs = list(itertools.product(matrix["python"], matrix["steps"]))
    assert all((row["python"], row["steps"]) in jobs for row in matrix["exclude"])
    jobs += [(row["python"], row["steps"]) for row in matrix["include"]]
    assert {step for _, names in jobs for step in names.split()} == set(steps()) - {"exhaustive"}

    assert matrix["python"] == claimed_pythons()
    assert core()["requires-python"] == f">={claimed_pythons()[0]}"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_have_few_permissions_and_pin_their_actions(path):
    text = path.read_text()
    permissions = yaml.safe_load(text)["permissions"]
    assert permissions in ({}, {"contents": "read"})
    actions = re.findall(r"uses: (\S+)", text)
    assert actions
    assert all(re.fullmatch(r"[\w/.-]+@(v\d+|release/v\d+)", action) for action in actions)
    assert "secrets." not in text


def test_a_release_publishes_the_checked_wheels_by_oidc():
    jobs = workflow("release.yml")["jobs"]
    assert any(step.get("run") == ".ci/run wheels" for step in jobs["build"]["steps"])
    assert jobs["publish"]["needs"] == "build"
    publish = jobs["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["steps"][-1]["with"] == {"attestations": True}


def test_a_release_by_hand_is_a_dry_run():
    triggers = workflow("release.yml")[True]  # YAML 1.1 reads the key `on` as a bool
    assert set(triggers) == {"push", "workflow_dispatch"}
    assert workflow("release.yml")["jobs"]["publish"]["if"] == "github.event_name == 'push'"


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
    variables = {"PATH": "/usr/bin:/bin", "TAG": tag}
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
