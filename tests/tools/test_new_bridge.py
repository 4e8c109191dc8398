from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest
from envcore_bridges.libraries import LIBRARIES
from tool_modules import load_tool

ROOT = Path(__file__).parents[2]

LIBRARY = '''
"""A library of one game: walk to the end of a line."""

import jax.numpy as jnp


class Walk:
    num_actions = 2

    def __init__(self, length=4):
        self.length = length

    def reset(self, key):
        return {"place": 0}

    def step(self, state, action):
        place = jnp.clip(state["place"] + 2 * action - 1, 0, self.length)
        return {"place": place}, jnp.float32(place), place == self.length


GAMES = {"Walk": Walk}
'''

# What an author puts in place of each TODO, by the beginning of its line.
BRIDGE = {
    "raise NotImplementedError(steps": "return steps.GAMES[self.source](**dict(self.options))",
    "raise NotImplementedError(\"TODO: the library's own limit": "return 20",
    'raise NotImplementedError("TODO: such as spaces.Discrete': "return spaces.Discrete(self.library_env.num_actions)",
    'raise NotImplementedError("TODO: such as spaces.Box': "return spaces.Box(0, self.library_env.length, (), int_)",
    'raise NotImplementedError("TODO: (state, obs) of the library': (
        'state = self.library_env.reset(key)\n        return state, state["place"]'
    ),
    'raise NotImplementedError("TODO: (state, obs, reward, terminated)': (
        'state, reward, done = self.library_env.step(state, action)\n        return state, state["place"], reward, done'
    ),
}
TEST = {
    "raise NotImplementedError(theirs": ('state = theirs.library_env.reset(key)\n        return state, state["place"]'),
    "raise NotImplementedError(\"TODO: the library's own step": (
        "state, reward, done = theirs.library_env.step(state, action)\n"
        '        return state, state["place"], reward, done'
    ),
}


class Bridge(NamedTuple):
    """A scaffold of a bridge to the library `steps`.

    Attributes:
      root: the folder in which the library is, and that of the scaffold.
      src: the folder from which the bridge is imported.
      package: what is imported.
      test: its test.
    """

    root: Path
    src: Path
    package: str
    test: Path

    @property
    def file(self):
        return self.src.joinpath(*self.package.split(".")).with_suffix(".py")

    def python(self, *arguments):
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (self.root, self.src, ROOT / "tests" / "support")))}
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=self.root, env=env, capture_output=True, text=True, check=False)


def new_bridge(*arguments):
    command = [sys.executable, ROOT / "tools" / "new_bridge", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def own(tmp_path):
    """In a distribution of its own."""
    (tmp_path / "steps.py").write_text(LIBRARY)
    done = new_bridge("steps", "Steps", "steps>=1", "--out", tmp_path / "steps")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "steps"
    return Bridge(tmp_path, folder / "src", "envcore_steps.bridge", folder / "tests" / "test_bridge.py")


@pytest.fixture
def ours(tmp_path):
    """In a copy of envcore-bridges."""
    bridges = tmp_path / "bridges"
    shutil.copytree(ROOT / "plugins" / "bridges" / "src", bridges / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "plugins" / "bridges" / "pyproject.toml", bridges)
    (tmp_path / "steps.py").write_text(LIBRARY)
    done = new_bridge("steps", "Steps", "steps>=1", "--bridges", bridges)
    assert done.returncode == 0, done.stderr
    assert "core/src/envcore/suggestions.py: steps in `_BRIDGED`" in done.stdout
    return Bridge(tmp_path, bridges / "src", "envcore_bridges.steps", bridges / "tests" / "test_steps.py")


@pytest.fixture(params=["own", "ours"])
def bridge(request):
    return request.getfixturevalue(request.param)


def fill(path, replacements):
    """Puts text in place of lines, which are found by how they start."""
    lines = path.read_text().splitlines()
    for start, text in replacements.items():
        (number,) = [i for i, line in enumerate(lines) if line.strip().startswith(start)]
        lines[number] = lines[number].partition("raise")[0] + text
    path.write_text("\n".join(lines) + "\n")


def metadata(folder):
    return tomllib.loads((folder / "pyproject.toml").read_text())["project"]


def test_what_is_made_is_tidy(bridge):
    for check in (["check"], ["format", "--check"]):
        done = bridge.python("-m", "ruff", *check, "--config", ROOT / "pyproject.toml", bridge.file, bridge.test)
        assert done.returncode == 0, done.stdout
    plugin = f"{bridge.package.partition('.')[0]}.plugin"
    done = bridge.python(
        "-c",
        f"import sys, {plugin} as plugin; "
        "print([spec.id for spec in plugin.envcore_env_specs() if spec.family == 'steps']); "
        "assert not {'jax', 'steps'} & set(sys.modules)",
    )
    assert done.stdout == "['steps/TODO']\n", done.stderr


def test_a_distribution_of_its_own_depends_on_the_library_and_the_base(own):
    project = metadata(own.root / "steps")
    assert project["name"] == "envcore-steps"
    assert {"steps>=1", "envcore-bridges>=0.2,<1"} <= set(project["dependencies"])
    assert project["entry-points"] == {"envcore.plugins": {"steps": "envcore_steps.plugin"}}


def test_a_library_of_ours_changes_two_files_by_a_line(ours):
    bridges, before = ours.root / "bridges", ROOT / "plugins" / "bridges"
    extras = metadata(bridges)["optional-dependencies"]
    assert extras["steps"] == ["steps>=1"]
    assert extras["all"][0].startswith("envcore-bridges[steps,")
    table = (bridges / "src" / "envcore_bridges" / "libraries.py").read_text().splitlines()
    old = (before / "src" / "envcore_bridges" / "libraries.py").read_text().splitlines()
    assert [line for line in table if line not in old] == [
        '    Library("steps", "Steps", "TODO: source (year)", "TODO: task", "steps"),'
    ]


def test_it_says_where_else_a_library_is_named():
    """Of the files outside of plugins/bridges, those that name all libraries are the ones that it says."""
    _, second, *lines = load_tool("new_bridge/__main__.py")._PLACES.format(extra="steps").splitlines()
    assert second == "Outside of plugins/bridges, three files name it, and nothing else:"
    named = {line.partition(":")[0].strip() for line in lines}
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    texts = {path: (ROOT / path).read_bytes() for path in tracked if not path.startswith("plugins/bridges/")}
    extras = [library.family.encode() for library in LIBRARIES]
    assert {path for path, text in texts.items() if all(extra in text for extra in extras)} == named


def test_what_exists_stays_and_names_are_checked(own):
    folder = own.root / "steps"
    before = (folder / "README.md").read_text()
    (folder / "README.md").write_text(before + "mine\n")
    for arguments, message in (
        (("steps", "Steps", "steps", "--out", folder), "exists already"),
        (("pgx", "Pgx", "pgx"), "exists already"),
        (("my-lib", "Steps", "steps"), "'my-lib' is not the name of a Python package"),
        (("other", "other lib", "other"), "'other lib' cannot be part of a class's name"),
    ):
        done = new_bridge(*arguments)
        assert done.returncode == 1
        assert message in done.stderr
    assert (folder / "README.md").read_text() == before + "mine\n"


@pytest.mark.slow
def test_with_its_todos_done_the_tests_that_it_brings_pass(bridge):
    fill(bridge.file, BRIDGE)
    source = bridge.file.read_text()
    bridge.file.write_text(source.replace("import jax\n", "import jax\nfrom jax.numpy import int32 as int_\n"))
    own = bridge.package == "envcore_steps.bridge"
    names = bridge.file.with_name("plugin.py" if own else "libraries.py")
    names.write_text(
        names.read_text()
        .replace('"TODO": "TODO: the task in one line."', '"Walk": "Walk."')
        .replace('"TODO: task"', '"Walk: Walk."')
    )
    fill(bridge.test, TEST)
    bridge.test.write_text(
        bridge.test.read_text().replace('from_steps("TODO")', 'from_steps("Walk")').replace("steps/TODO", "steps/Walk")
    )
    if own:
        info = bridge.src / "envcore_steps-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: envcore-steps\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[envcore.plugins]\nsteps = envcore_steps.plugin\n")
    done = bridge.python("-m", "pytest", "-q", "-p", "unoptimized", bridge.test)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "passed" in done.stdout
