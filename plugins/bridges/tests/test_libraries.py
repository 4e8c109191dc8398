"""The table of libraries: what is announced, and what is said of a library that is missing."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import envcore_bridges
import pytest
from envcore.suggestions import how_to_install
from envcore_bridges import libraries, plugin
from envcore_bridges.libraries import LIBRARIES, Library

FOLDER = Path(__file__).parents[1]


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.family)
def test_a_row_names_an_extra_a_function_and_environments(library: Library) -> None:
    if library.family == "playground":  # which lists its environments itself
        pytest.importorskip("mujoco_playground")
    extras = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert extras[library.family]
    assert callable(getattr(envcore_bridges, f"from_{library.package}"))
    assert {spec.entry_point for spec in library.specs()} == {
        f"envcore_bridges.{library.package}:from_{library.package}"
    }
    assert all(len(spec.summary) <= 120 for spec in library.specs())
    assert len(library.environments()) > 0


def test_what_is_installed_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "is_installed", lambda family: family in ("craftax", "pgx"))
    specs = plugin.envcore_env_specs()
    assert {spec.family for spec in specs} == {"craftax", "pgx"}
    names = {spec.id: spec.kwargs["source"] for spec in specs}
    assert (names["craftax/Craftax-Symbolic-v1"], names["pgx/2048"]) == ("craftax/Craftax-Symbolic-v1", "2048")


WITHOUT_LIBRARIES = """
import importlib.machinery, importlib.metadata, json
import envcore_bridges
from envcore_bridges import plugin
from envcore_bridges.libraries import BY_MODULE, LIBRARIES

find = importlib.machinery.PathFinder.find_spec
importlib.machinery.PathFinder.find_spec = lambda name, *rest: None if name in BY_MODULE else find(name, *rest)
importlib.metadata.version = lambda name: "0.0.8"

errors = {}
for library in LIBRARIES:
    name = next(iter(library.environments()), "any")
    try:
        getattr(envcore_bridges, f"from_{library.package}")(f"{library.family}/{name}" if library.qualified else name)
    except ImportError as error:
        errors[library.family] = f"{type(error).__name__}: {error}"
print(json.dumps([len(plugin.envcore_env_specs()), errors]))
"""


def test_libraries_that_are_missing_are_not_announced_and_an_error_says_what_to_install() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_LIBRARIES], check=True, capture_output=True, text=True)
    announced, errors = json.loads(done.stdout)
    assert announced == 0
    assert set(errors) == {library.family for library in LIBRARIES}
    for library in LIBRARIES:
        advice = f"{library.title}, which is not installed: {how_to_install(f'envcore-bridges[{library.family}]')}."
        assert re.fullmatch(rf"EnvironmentLoadError: \S+ needs {re.escape(advice)}", errors[library.family])


def test_only_gymnax_1_is_gymnax(monkeypatch: pytest.MonkeyPatch) -> None:
    for version, is_it in (("0.0.8", False), ("1.0.1", True), ("unknown", False)):
        monkeypatch.setattr(importlib.metadata, "version", lambda name, version=version: version)
        assert libraries.is_installed("gymnax") == is_it


def test_announcing_imports_nothing_heavy() -> None:
    program = (
        "import sys, envcore_bridges.plugin as p; assert p.envcore_env_specs(); "
        "assert not {'jax', 'numpy', 'brax', 'pgx', 'jumanji'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
