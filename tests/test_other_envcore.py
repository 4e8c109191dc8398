"""The error of a suite if the installed `envcore` is another project's, which has this name on the package index."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[1]
SUITES = sorted(
    path.parent
    for folder in ("packages", "plugins")
    for path in ROOT.glob(f"{folder}/*/src/*/__init__.py")
    if path.parent.name != "envcore_runs"
)


def run(code: str, *path: Path) -> subprocess.CompletedProcess[str]:
    """Runs a program that can import the standard library and `path`, but nothing of the workspace."""
    code = f"import sys\nsys.path[:0] = {[str(each) for each in path]}\n{dedent(code)}"
    return subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)


def other_envcore(folder: Path, case: str) -> Path | None:
    """Writes another `envcore` into a folder, and returns its file."""
    if case == "none":
        return None
    if case == "a script":
        file = folder / "envcore.py"
        file.write_text("print('hello')\n")
        return file
    info = folder / "envcore-0.1.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.4\nName: envcore\nVersion: 0.1.1\n")
    package = folder / "envcore"
    package.mkdir()
    (package / "__init__.py").write_text('"""Environment reconstruction."""\n__version__ = "0.1.0"\n')
    for name in ("cli", "environment", "plugins", "specs") if case == "a package with our modules" else ("cli",):
        (package / f"{name}.py").write_text("def main(): ...\n")
    return package / "__init__.py"


@pytest.mark.parametrize(
    "case",
    [
        "a package",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("a package with our modules", "a script", "none")),
    ],
)
@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_a_suite_says_in_one_line_that_envcore_is_another_project(suite: Path, case: str, tmp_path: Path) -> None:
    file = other_envcore(tmp_path, case)
    found = ["0.1.1"] if case.startswith("a package") else []
    found.append("not importable" if file is None else str(file))
    modules = sorted(path.stem for path in suite.glob("[a-z]*.py"))
    code = f"""
        import importlib, json
        errors = set()
        for module in ["{suite.name}", *("{suite.name}." + name for name in {modules})]:
            try:
                importlib.import_module(module)
            except ImportError as error:
                assert error.__suppress_context__  # a single traceback, which ends with this line
                errors.add(str(error))
            else:
                errors.add(module)
        print(json.dumps(list(errors)))
    """
    process = run(code, tmp_path, suite.parent)
    assert process.returncode == 0, process.stderr
    line = (
        f"{suite.name} needs envcore>=0.2, the library of JAX environments, and the installed envcore is not that "
        f"({', '.join(found)}): run `pip install ./core` in a clone of its repository, or "
        "`pip install 'envcore>=0.2'` once it is released"
    )
    assert json.loads(process.stdout.splitlines()[-1]) == [line]


# envcore_gymnasium registers the environments with Gymnasium when it is imported, as Gymnasium's plugins do.
LIGHT = [suite for suite in SUITES if suite.name != "envcore_gymnasium"]


@pytest.mark.parametrize("suite", LIGHT, ids=lambda suite: suite.name)
def test_with_the_right_core_a_suite_imports_almost_nothing(suite: Path) -> None:
    code = f"""
        import json, {suite.name}
        print(json.dumps(list(sys.modules)))
    """
    process = run(code, ROOT / "core" / "src", suite.parent)
    assert process.returncode == 0, process.stderr
    modules = json.loads(process.stdout)
    assert {name for name in modules if name.startswith("envcore")} == {
        "envcore",
        "envcore.errors",
        "envcore.version",
        suite.name,
    }
    assert not {"importlib.metadata", "dataclasses", "inspect"} & set(modules)
