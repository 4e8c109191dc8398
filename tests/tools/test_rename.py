from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from checkouts import copy_files
from tool_modules import TOOLS, load_tool


@pytest.fixture(scope="module")
def rename() -> Any:
    return load_tool("rename/__main__.py")


def command(*arguments: str | Path, cwd: Path) -> str:
    variables = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "XLA_FLAGS")}
    done = subprocess.run(arguments, cwd=cwd, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "text",
    [
        'name = "NAME"',
        'dependencies = ["NAME>=0.2,<1", "NAME-runs>=0.2,<1", "NAME-bsuite[analysis]"]',
        "NAME = { workspace = true }",
        "NAME-cli = { workspace = true }",
        "`pip install NAME NAME-minatar`, or `NAME[all]`",
        'CORE = "NAME"',
        "envcore.make('NAME-minatar:Asterix-MinAtar')",
        "from envcore import make  # envcore steps environments",
        "uv run envcore list; ENVCORE_STRICT_PLUGINS=1",
        '[project.entry-points."envcore.plugins"]',
        "https://github.com/envcore/envcore/issues",
        'packages = ["src/envcore_minatar"]',
    ],
)
def test_a_mention_is_of_the_distribution_or_of_the_package(rename: Any, text: str) -> None:
    assert rename.renamed(text.replace("NAME", "envcore"), "envcore", "jax-envs") == text.replace("NAME", "jax-envs")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Jax Envs"], "'Jax Envs' is not the name of a distribution, such as jaxenvs"),
        (["jaxenvs", "--import-name", "jax-envs"], "'jax-envs' is not lower-case letters and digits, such as jaxenvs"),
    ],
)
def test_a_name_that_is_none(arguments: list[str], message: str, tmp_path: Path) -> None:
    tool = [sys.executable, TOOLS / "rename", *arguments, "--root", tmp_path]
    done = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, f"error: {message}\n")


PROGRAM = """
import envcore, envcore_misc, jax
from envcore import registry, suggestions
from importlib.metadata import version

env, params = envcore.make("jax-envs-misc:Pong-misc")
env.step(jax.random.key(0), env.reset(jax.random.key(0), params)[1], 0, params)
assert version("jax-envs") == envcore.__version__
suggestions._IS_RELEASED = True
print(suggestions.how_to_install("jax-envs[all]"))
try:
    envcore.make("Breakout-MinAtar")
except envcore.EnvcoreError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("package", ["envcore", "envs"])
def test_a_renamed_copy_is_built_installed_and_says_its_name(tmp_path: Path, package: str) -> None:
    copy = tmp_path / "copy"
    copy_files(copy)
    command("git", "init", cwd=copy)
    command("git", "add", ".", cwd=copy)
    command(sys.executable, "tools/rename", "jax-envs", "--import-name", package, cwd=copy)
    command("uv", "lock", "--check", cwd=copy)
    for name in ("jax-envs", "jax-envs-runs", "jax-envs-cli", "jax-envs-misc"):
        command("uv", "build", "--wheel", "--package", name, "--out-dir", tmp_path / "dist", cwd=copy)
    wheels = sorted((tmp_path / "dist").glob("*.whl"))
    assert [path.name.partition("-")[0] for path in wheels] == [
        *("jax_envs", "jax_envs_cli", "jax_envs_misc", "jax_envs_runs")
    ]
    command("uv", "venv", "--python", sys.executable, "venv", cwd=tmp_path)
    command("uv", "pip", "install", "--python", tmp_path / "venv", *wheels, cwd=tmp_path)
    program = PROGRAM.replace("envcore", package).replace("EnvcoreError", f"{package.capitalize()}Error")
    said = command(tmp_path / "venv" / "bin" / "python", "-c", program, cwd=tmp_path).splitlines()
    assert said[0] == "pip install 'jax-envs[all]'"
    assert "jax-envs-minatar has environments with such ids: pip install jax-envs-minatar" in said[1]
    assert "jax-envs-misc" in command(tmp_path / "venv" / "bin" / package, "plugins", cwd=tmp_path)
