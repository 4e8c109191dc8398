"""The code of every page runs where only what the page tells you to install is installed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Self

import pytest

ROOT = Path(__file__).parents[1]
SITE = ROOT / "tools" / "site" / "pages"
CODE = re.compile(r"^```(?:python|\{code-cell\} ipython3(?:\n:tags:.*)?)\n(.*?)^```", re.DOTALL | re.MULTILINE)
SHELL = re.compile(r"^```(?:bash|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
INSTALL = re.compile(r"^(?:uv )?pip install ((?:.*\\\n)*[^&\n]*)", re.MULTILINE)
COMMAND = re.compile(r"^(?:\$ )?envcore ([a-z]+)", re.MULTILINE)

READMES = [ROOT / "README.md", ROOT / "core" / "README.md", *ROOT.glob("p*/*/README.md")]
TEMPLATE = ROOT / "plugins" / "example" / "README.md"  # whose commands test_discovery runs
PAGES = sorted({*READMES, *SITE.rglob("*.md")} - {TEMPLATE})


def commands_of(text: str) -> set[str]:
    """The subcommands of `envcore` that a page types."""
    return {each for block in SHELL.findall(text) for each in COMMAND.findall(block)}


WITH_CODE = [page for page in PAGES if CODE.search(page.read_text()) or commands_of(page.read_text())]
LONG = {
    *(ROOT / "plugins" / name / "README.md" for name in ("adapters", "baselines", "bridges", "native", "ray")),
    *(SITE / "tutorials" / f"{name}.md" for name in ("foreign_library", "ppo")),
}


def name_of(page: Path) -> str:
    return str(page.relative_to(SITE if page.is_relative_to(SITE) else ROOT))


def requirements(text: str) -> list[str]:
    """What the install commands of a page install; of JAX, the build for CPUs."""
    commands = [found for block in SHELL.findall(text) for found in INSTALL.findall(block)]
    assert commands, "the page has no install command"
    plain = [command.replace("\\\n", " ").replace("[cuda]", "") for command in commands]
    return [each for command in plain for each in shlex.split(command, comments=True)]


class Venv:
    """An environment with what a page installs, and nothing else; it is removed at the end of the block."""

    def __init__(self, folder: Path, text: str):
        self.folder, self._text = folder, text
        self.bin = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        outside = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
        self._settings = {**outside, "MPLBACKEND": "Agg", "PYTHONWARNINGS": "ignore"}

    def __enter__(self) -> Self:
        venv = self.bin.parent
        self.run("uv", "venv", "--quiet", "--python", sys.executable, venv)
        self.run("uv", "pip", "install", "--quiet", "--python", venv, *requirements(self._text), folder=ROOT)
        return self

    def __exit__(self, *exception: object) -> None:
        shutil.rmtree(self.bin.parent, ignore_errors=True)

    def run(self, *command: str | Path, folder: Path | None = None) -> None:
        cwd = folder or self.folder
        done = subprocess.run(command, cwd=cwd, env=self._settings, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.long) if page in LONG else page for page in WITH_CODE], ids=name_of
)
def test_a_page_runs_with_what_it_installs(page: Path, tmp_path: Path) -> None:
    text = page.read_text()
    with Venv(tmp_path, text) as venv:
        if blocks := CODE.findall(text):
            (tmp_path / "page.py").write_text("\n".join(blocks))
            venv.run(venv.bin / "python", "page.py")
        for command in sorted(commands_of(text)):
            venv.run(venv.bin / "envcore", command, "--help")
