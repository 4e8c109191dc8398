"""What `import envcore`, a listing and `make` load and start, each in a fresh process."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import envcore

HEAVY = {"chex", "flax", "jax", "jaxlib", "numpy", "PIL", "rich", "typer"}


def probe(code: str) -> Any:
    """The value of `result` at the end of a program, and the packages and modules that it imported."""
    code = f"{dedent(code)}\nimport json, sys\nprint(json.dumps([result, sorted(sys.modules)]))"
    process = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    result, modules = json.loads(process.stdout.splitlines()[-1])
    return result, {name.partition(".")[0] for name in modules}, modules


def test_import_loads_only_the_package() -> None:
    _, packages, modules = probe("import envcore; result = None")
    assert [name for name in modules if name.startswith("envcore")] == [
        "envcore",
        "envcore.forks",
        "envcore.lazy",
        "envcore.version",
    ]
    assert not packages & {*HEAVY, "importlib_metadata", "packaging", "pluggy"}


def test_listing_imports_no_environment_and_no_jax() -> None:
    result, packages, modules = probe("""
        import envcore
        result = [envcore.registry[each].spec.entry_point for each in envcore.registry]
    """)
    assert result  # the workspace has environments
    assert not packages & HEAVY
    assert not {entry_point.partition(":")[0] for entry_point in result} & set(modules)


def test_make_imports_one_environment() -> None:
    _, _, modules = probe("import envcore; envcore.make('CartPole-v1'); result = None")
    assert "envcore_classic_control.cartpole" in modules
    assert "envcore_classic_control.pendulum" not in modules


def test_no_environment_and_no_part_of_core_starts_a_backend() -> None:
    result, _, _ = probe("""
        import importlib
        import envcore
        from jax._src import xla_bridge

        result = []
        for name in dir(envcore):
            getattr(envcore, name)
            if xla_bridge.backends_are_initialized():
                raise SystemExit(f"envcore.{name} started a backend")
        for each in envcore.registry.values():
            if each.spec.id == "MNISTBandit-bsuite" or each.spec.family:  # it loads a dataset; there are hundreds
                continue
            module, _, name = each.spec.entry_point.partition(":")
            env = getattr(importlib.import_module(module), name)(**each.spec.kwargs)
            params = env.default_params
            repr(env), hash(env), env.action_space(params), env.observation_space(params)
            if xla_bridge.backends_are_initialized():
                raise SystemExit(f"{each.qualified_name} started a backend")
    """)
    assert result == []


def test_editors_see_the_names_that_programs_see() -> None:
    source = ast.parse(Path(envcore.__file__).read_text())
    (block,) = [node for node in source.body if isinstance(node, ast.If)]
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom) and node.module != "typing"]
    assert {alias.asname for node in imports for alias in node.names} == set(envcore.__all__)


def test_the_version_is_that_of_the_distribution() -> None:
    assert importlib.metadata.version("envcore") == envcore.__version__
