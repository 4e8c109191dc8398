from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import envcore
import pytest
from tool_modules import load_tool
from wheels import SUITES

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "pyproject.toml"
PLUGIN = '''"""Announces the suite's environments to envcore. Imports no JAX."""

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    """The suite's environments."""
    return []
'''


@pytest.fixture
def suite(tmp_path):
    """A suite without environments, installed by putting its `src` on PYTHONPATH."""
    folder = tmp_path / "suite"
    package = folder / "src" / "made_up"
    metadata = folder / "src" / "made_up-1.0.dist-info"
    for new in (package, metadata):
        new.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(f"[tool.ruff]\nextend = {json.dumps(str(CONFIG))}\n")
    (package / "__init__.py").write_text('"""A suite."""\n')
    (package / "plugin.py").write_text(PLUGIN)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: made-up\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[envcore.plugins]\nmade-up = made_up.plugin\n")
    return folder


def python(*arguments, suite):
    env = {**os.environ, "PYTHONPATH": str(suite / "src")}
    return subprocess.run([sys.executable, *arguments], cwd=suite, env=env, capture_output=True, text=True, check=False)


def new_env(suite, class_name, env_id, summary):
    return python(ROOT / "tools" / "new_env", suite, class_name, env_id, summary, suite=suite)


def add(suite, *arguments):
    done = new_env(suite, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_written_files_pass_every_check_unchanged(suite):
    add(suite, "Corridor", "Corridor-v0", "Walk to the end of a corridor.")
    add(suite, "MNISTWalk", "MNISTWalk-v1", "Walk from digit to digit, as far as naïve agents can")

    for check in (["check"], ["format", "--check"]):
        ruff = python("-m", "ruff", *check, "--no-cache", ".", suite=suite)
        assert ruff.returncode == 0, ruff.stdout

    settings = tomllib.loads(CONFIG.read_text())["tool"]["pyright"]
    settings = {name: value for name, value in settings.items() if name not in ("include", "executionEnvironments")}
    settings = {**settings, "extraPaths": ["src"], "venvPath": str(Path(sys.prefix).parent)}
    (suite / "pyrightconfig.json").write_text(json.dumps(settings))
    pyright = python("-m", "pyright", "--project", suite, suite=suite)
    assert pyright.returncode == 0, pyright.stdout

    tests = python("-m", "pytest", "-c", CONFIG, "--rootdir", suite, "-p", "no:cacheprovider", "tests", suite=suite)
    assert tests.returncode == 0, tests.stdout
    assert "14 passed" in tests.stdout


def test_it_adds_rows_in_order_and_keeps_the_rest(suite):
    plugin = suite / "src" / "made_up" / "plugin.py"
    plugin.write_text(plugin.read_text().replace("[]", '[EnvSpec("Ä-v0".replace("Ä", "A"), "a.b:C")  # ünique\n]'))
    output = add(suite, "Corridor", "Corridor-v0", "Walk to the end of a corridor")
    assert str(plugin) in output
    source = plugin.read_text()
    assert "# ünique" in source
    ids = "from made_up.plugin import envcore_env_specs as f; print([(s.id, s.entry_point, s.summary) for s in f()])"
    rows = [("A-v0", "a.b:C", ""), ("Corridor-v0", "made_up.corridor:Corridor", "Walk to the end of a corridor.")]
    assert python("-c", ids, suite=suite).stdout.strip() == str(rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("corridor", "Corridor-v0", "Walk."), "'corridor' is not a class name"),
        (("Cor ridor", "Corridor-v0", "Walk."), "'Cor ridor' is not a class name"),
        (("True", "Corridor-v0", "Walk."), "'True' is not a class name"),
        (("Class", "Corridor-v0", "Walk."), "would be in class.py, which Python cannot import"),
        (("Plugin", "Corridor-v0", "Walk."), "plugin.py exists already: choose another class name"),
        (("Corridor", "Corridor v0", "Walk."), "the id of EnvSpec 'Corridor v0' must"),
        (("Corridor", "CartPole-v1", "Walk."), "CartPole-v1 is announced already, by envcore-classic-control"),
        (("Corridor", "Corridor-v0", ""), "the summary must be one line of plain text"),
        (("Corridor", "Corridor-v0", "Walk.\nRun."), "the summary must be one line of plain text"),
        (("Corridor", "Corridor-v0", 'Walk "home".'), "the summary must be one line of plain text"),
        (("Corridor", "Corridor-v0", "Walk " * 30), "characters too long for a line"),
    ],
)
def test_bad_arguments(suite, arguments, message):
    assert_refused(suite, arguments, message)


def test_a_second_environment_of_the_same_name(suite):
    add(suite, "Corridor", "Corridor-v0", "Walk.")
    assert_refused(suite, ("Corridor", "Corridor-v1", "Walk."), "corridor.py exists already")
    assert_refused(suite, ("Passage", "Corridor-v0", "Walk."), "Corridor-v0 is announced already, by")


def test_an_existing_test_is_not_overwritten(suite):
    (suite / "tests").mkdir()
    (suite / "tests" / "test_corridor.py").write_text("")
    assert_refused(suite, ("Corridor", "Corridor-v0", "Walk."), "test_corridor.py exists already")


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("pyproject.toml", None, "is not a suite: it has no pyproject.toml"),
        ("src/made_up/plugin.py", None, "must have one src/PACKAGE/plugin.py"),
        ("src/made_up/plugin.py", "import nothing_of_this_name", "does not work: ModuleNotFoundError"),
        ("src/made_up/plugin.py", PLUGIN.replace("[]", "list()"), "must return a literal list [...] of rows"),
    ],
)
def test_a_folder_that_is_not_a_suite(suite, path, text, message):
    if text is None:
        (suite / path).unlink()
    else:
        (suite / path).write_text(text)
    assert_refused(suite, ("Corridor", "Corridor-v0", "Walk."), message)


def test_it_says_where_else_an_environment_is_named():
    """Each file has all environments of our suites already; those that need a download have no recorded numbers."""
    tool = load_tool("new_env/__main__.py")
    first, second, *lines = tool.places(ROOT / "packages" / "misc", "Corridor-misc")
    assert first.endswith("add it to the tables and lists of README.md, CHANGELOG.md, tests/test_params.py.")
    assert second.endswith("the tests look for it in four files:")
    files = [line.partition(":")[0].strip() for line in lines]
    assert len(files) == 4
    ids = [each.spec.id for each in envcore.registry.values() if each.distribution in SUITES and not each.spec.family]
    for file in files:
        text = (ROOT / file).read_text()
        if file == "README.md":  # which leaves out the suite
            assert [each for each in ids if each.rpartition("-")[0] not in text] == []
            continue
        assert [env_id for env_id in ids if env_id not in text and "MNIST" not in env_id] == [], file
    for line in lines:
        command = re.search("`uv run python ([^ `]+)", line)
        assert command is None or (ROOT / command[1]).exists()


def test_a_suite_elsewhere_is_named_nowhere(suite):
    assert load_tool("new_env/__main__.py").places(suite, "Corridor-v0") == []
    (suite / "README.md").touch()
    assert "TODO" in add(suite, "Corridor", "Corridor-v0", "Walk.").splitlines()[-2]
    assert load_tool("new_env/__main__.py").places(suite, "Corridor-v0") == [
        f"In {suite}, add it to the tables and lists of README.md."
    ]


def assert_refused(suite, arguments, message):
    """An error on one line; nothing is written."""
    before = contents(suite)
    done = new_env(suite, *arguments)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert contents(suite) == before


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
