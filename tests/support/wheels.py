"""Real wheels, and empty virtual environments to install them into without a network.

Third-party packages are not downloaded. Each environment's site-packages is extended by a folder with links to the
packages of the interpreter that runs the tests, and contains copies of their metadata, so that uv resolves
and installs as usual. Nothing of the workspace is linked.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

ROOT = Path(__file__).parents[2]
SUITES = tuple(f"envcore-{path.parent.name}" for path in sorted(ROOT.glob("packages/*/pyproject.toml")))


@dataclasses.dataclass(frozen=True)
class Probe:
    """The output of a program.

    Attributes:
      result: its variable `result`, passed through JSON.
      stderr: warnings and tracebacks.
    """

    result: Any
    stderr: str


@dataclasses.dataclass(frozen=True)
class Venv:
    """A virtual environment, in which no distribution of the workspace is installed at first."""

    folder: Path
    variables: dict[str, str]

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def install(self, *requirements: str, force: bool = False) -> None:
        """Installs like `pip install`; `force` ignores dependencies, even conflicting ones."""
        # Without --python, uv might use the environment that the tests run in.
        options = ["--python", str(self.python), *(["--no-deps"] if force else [])]
        _uv("pip", "install", *options, *requirements, variables=self.variables)

    def run(self, code: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs a program in a new process; it may fail."""
        command = [str(self.python), "-I", "-c", dedent(code)]
        environment = {**self.variables, **variables}
        return subprocess.run(command, env=environment, cwd=self.folder, capture_output=True, text=True, check=False)

    def probe(self, code: str, **variables: str) -> Probe:
        """Runs a program that sets `result`; fails if the program fails."""
        process = self.run(f"{dedent(code)}\nimport json\nprint(json.dumps(result))", **variables)
        assert process.returncode == 0, process.stderr
        return Probe(json.loads(process.stdout.splitlines()[-1]), process.stderr)


class Workshop:
    """Builds wheels and creates virtual environments, in a separate folder.

    Attributes:
      folder: the folder.
      variables: environment variables with which uv finds the wheels, but nothing of the workspace.
      site_packages: the initial contents of each environment's site-packages, in place of downloads.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._wheels = folder / "wheels"
        self._wheels.mkdir()
        self._third_party = folder / "third_party"
        self.site_packages = folder / "site_packages"
        self.variables = {**_bare_environment(), "UV_FIND_LINKS": str(self._wheels)}
        self._shadow_third_parties()
        # `uv sync` has put the build backend into uv's cache, unless the cache has been cleared.
        offline = {**self.variables, "UV_OFFLINE": "1"}
        if _run_uv(*self._build(ROOT / "core"), variables=offline).returncode == 0:
            self.variables = offline
        else:
            self.build(ROOT / "core")
        for source in [ROOT / "packages" / suite.removeprefix("envcore-") for suite in SUITES]:
            self.build(source)
        for pyproject in sorted(ROOT.glob("plugins/*/pyproject.toml")):
            self.build(pyproject.parent)

    def build(self, source: Path) -> None:
        """Builds a wheel into the folder in which all environments look for wheels."""
        _uv(*self._build(source), variables=self.variables)

    def _build(self, source: Path) -> tuple[str, ...]:
        return "build", "--python", sys.executable, "--wheel", "--out-dir", str(self._wheels), str(source)

    def build_plugin(self, distribution: str, code: str, *, requires: str = "envcore") -> None:
        """Builds the wheel of a distribution whose plugin module contains `code`."""
        module = distribution.replace("-", "_")
        source = self.folder / "sources" / distribution
        source.mkdir(parents=True)
        (source / f"{module}.py").write_text(dedent(code))
        (source / "pyproject.toml").write_text(
            dedent(f"""
                [project]
                name = "{distribution}"
                version = "1.2"
                dependencies = ["{requires}"]

                [project.entry-points."envcore.plugins"]
                main = "{module}"

                [build-system]
                requires = ["hatchling"]
                build-backend = "hatchling.build"

                [tool.hatch.build.targets.wheel]
                only-include = ["{module}.py"]
            """)
        )
        self.build(source)

    def venv(self, name: str, *requirements: str) -> Venv:
        """Creates an environment and installs requirements into it."""
        folder = self.folder / "venvs" / name
        _uv("venv", "--python", sys.executable, str(folder), variables=self.variables)
        (site_packages,) = folder.glob("lib/python*/site-packages")
        shutil.copytree(self.site_packages, site_packages, dirs_exist_ok=True)
        venv = Venv(folder, self.variables)
        venv.install(*requirements)
        return venv

    def _shadow_third_parties(self) -> None:
        self._third_party.mkdir()
        self.site_packages.mkdir()
        (self.site_packages / "third_party.pth").write_text(f"{self._third_party}\n")
        for entry in (
            entry for folder in sys.path if folder.endswith("site-packages") for entry in Path(folder).iterdir()
        ):
            link, metadata = self._third_party / entry.name, self.site_packages / entry.name
            if "envcore" in entry.name or entry.suffix == ".pth" or link.exists() or metadata.exists():
                continue
            if entry.suffix == ".dist-info":
                metadata.mkdir()
                shutil.copy(entry / "METADATA", metadata)
            else:
                link.symlink_to(entry)


def _bare_environment() -> dict[str, str]:
    ours = ("ENVCORE_", "PYTHON", "PYTEST_", "VIRTUAL_ENV", "UV_PROJECT", "UV_PYTHON", "UV_SYSTEM")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def _uv(*arguments: str, variables: dict[str, str]) -> None:
    __tracebackhide__ = True  # a traceback would print the variables
    process = _run_uv(*arguments, variables=variables)
    assert process.returncode == 0, f"uv {' '.join(arguments)}\n{process.stderr}"


def _run_uv(*arguments: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    uv = os.environ.get("UV") or shutil.which("uv")  # `uv run` sets it
    assert uv is not None, "these tests need uv: pip install uv"
    return subprocess.run([uv, *arguments], env=variables, capture_output=True, text=True, check=False)
