from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

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


@pytest.fixture
def bridge(tmp_path):
    """The scaffold of a bridge to the library `steps`."""
    (tmp_path / "steps.py").write_text(LIBRARY)
    done = new_bridge(tmp_path, "steps", "Steps", "steps>=1")
    assert done.returncode == 0, done.stderr
    return tmp_path / "steps"


def python(*arguments, folder):
    paths = [folder, folder / "steps" / "src", ROOT / "tests" / "support"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


def new_bridge(folder, *arguments):
    return python(ROOT / "tools" / "new_bridge", *arguments, "--plugins", folder, folder=folder)


def fill(path, replacements):
    """Puts text in place of lines, which are found by how they start."""
    lines = path.read_text().splitlines()
    for start, text in replacements.items():
        (number,) = [i for i, line in enumerate(lines) if line.strip().startswith(start)]
        lines[number] = lines[number].partition("raise")[0] + text
    path.write_text("\n".join(lines) + "\n")


def test_what_is_made_is_a_tidy_distribution(bridge):
    project = tomllib.loads((bridge / "pyproject.toml").read_text())["project"]
    assert project["name"] == "envcore-steps"
    assert "steps>=1" in project["dependencies"]
    assert project["entry-points"] == {"envcore.plugins": {"steps": "envcore_steps.plugin"}}
    assert (bridge / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    ruff = ["-m", "ruff", "--config", ROOT / "pyproject.toml"]
    for check in (["check"], ["format", "--check"]):
        done = python(*ruff[:2], *check, *ruff[2:], bridge, folder=bridge.parent)
        assert done.returncode == 0, done.stdout
    done = python(
        "-c",
        "import sys; from envcore_steps import plugin; print([spec.id for spec in plugin.envcore_env_specs()]); "
        "assert not {'jax', 'steps'} & set(sys.modules)",
        folder=bridge.parent,
    )
    assert done.stdout == "['steps/TODO']\n", done.stderr


def test_what_exists_stays_and_names_are_checked(bridge):
    before = (bridge / "README.md").read_text()
    (bridge / "README.md").write_text(before + "mine\n")
    for arguments, message in (
        (("steps", "Steps", "steps"), "exists already"),
        (("my-lib", "Steps", "steps"), "'my-lib' is not the name of a Python package"),
        (("other", "other lib", "other"), "'other lib' cannot be part of a class's name"),
    ):
        done = new_bridge(bridge.parent, *arguments)
        assert done.returncode == 1
        assert message in done.stderr
    assert (bridge / "README.md").read_text() == before + "mine\n"


@pytest.mark.slow
def test_with_its_todos_done_the_tests_that_it_brings_pass(bridge):
    package = bridge / "src" / "envcore_steps"
    fill(package / "bridge.py", BRIDGE)
    source = (package / "bridge.py").read_text()
    (package / "bridge.py").write_text(
        source.replace("import jax\n", "import jax\nfrom jax.numpy import int32 as int_\n")
    )
    plugin = (package / "plugin.py").read_text()
    (package / "plugin.py").write_text(plugin.replace('"TODO": "TODO: the task in one line."', '"Walk": "Walk."'))
    tests = bridge / "tests" / "test_bridge.py"
    fill(tests, TEST)
    tests.write_text(tests.read_text().replace('from_steps("TODO")', 'from_steps("Walk")'))
    metadata = bridge / "src" / "envcore_steps-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: envcore-steps\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[envcore.plugins]\nsteps = envcore_steps.plugin\n")
    done = python("-m", "pytest", "-q", "-p", "unoptimized", tests, folder=bridge.parent)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "passed" in done.stdout
