"""Adds an environment to a suite: a working module, its announcement in `plugin.py`, and its test.

    uv run python tools/new_env packages/misc Corridor Corridor-misc "Walk to the end of a corridor."

The parts that you have to write are marked TODO. Until then the environment is a walk on a line, which keeps the
contract.
"""

from __future__ import annotations

import argparse
import ast
import json
import keyword
import re
import runpy
import string
import subprocess
import sys
from pathlib import Path

from envcore.errors import EnvcoreError
from envcore.registration import registry
from envcore.specs import EnvSpec

_HOOK = "envcore_env_specs"
_ROOT = Path(__file__).parents[2]
_LINE_LENGTH = 120


class ScaffoldError(Exception):
    """An argument is invalid, or the suite does not have the expected structure."""


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="new_env", description="Add an environment, its announcement and its test to a suite."
    )
    parser.add_argument("suite", type=Path, help="folder of the suite, for example packages/misc")
    parser.add_argument("class_name", help="for example Corridor")
    parser.add_argument("env_id", help="for example Corridor-misc")
    parser.add_argument("summary", help="one line about the task, shown by `envcore list`")
    options = parser.parse_args()
    try:
        files = scaffold(options.suite, options.class_name, options.env_id, options.summary)
    except (ScaffoldError, EnvcoreError) as error:
        sys.exit(f"error: {error}")
    for path, text in files.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path)
    # The order of imports depends on the suite's name and settings.
    for tidy in (["check", "--select", "I", "--fix"], ["format"]):
        subprocess.run([sys.executable, "-m", "ruff", *tidy, "--quiet", *files], check=True)
    print("Now write the rules where these files say TODO.")
    for place in places(options.suite, options.env_id):
        print(place)


def places(suite: Path, env_id: str) -> list[str]:
    """What else names every environment: in the suite, and elsewhere if it is a suite of this repository."""
    named = [path for path in ("README.md", "CHANGELOG.md", "tests/test_params.py") if (suite / path).exists()]
    lines = [f"In {suite}, add it to the tables and lists of {', '.join(named)}."] if named else []
    if (_ROOT / "packages").resolve() not in suite.resolve().parents:
        return lines
    return [
        *lines,
        f"Outside of {suite}, the tests look for it in four files:",
        "  README.md: the row of its suite in the table of environments",
        "  tests/golden/streams.json: `uv run python tests/support/streams.py`",
        f"  tools/site/data/checks.json: `uv run python tools/site/checks.py {env_id}`",
        "  tools/site/data/comparisons.json: `uv run python tools/site/comparisons.py`",
    ]


def scaffold(suite: Path, class_name: str, env_id: str, summary: str) -> dict[Path, str]:
    """Returns the files to write, including the changed `plugin.py`, without writing them.

    Raises:
      ScaffoldError, InvalidArgumentError: an argument is invalid, or something with this name exists already.
    """
    plugin = find_plugin(suite)
    module = module_name(class_name)
    summary = checked_summary(summary, env_id)
    package = plugin.parent.name
    entry_point = f"{package}.{module}:{class_name}"
    EnvSpec(id=env_id, entry_point=entry_point, summary=summary)
    check_unannounced(plugin, env_id)

    names = {
        "class_name": class_name,
        "env_id": env_id,
        "module": module,
        "package": package,
        "summary": summary,
    }
    made = {
        plugin.with_name(f"{module}.py"): "environment.py.template",
        suite / "tests" / f"test_{module}.py": "test_environment.py.template",
    }
    for path in made:
        if path.exists():
            raise ScaffoldError(f"{path} exists already: choose another class name")
    files = {path: fill(template, names) for path, template in made.items()}
    return {**files, plugin: with_row(plugin, env_id, entry_point, summary)}


def find_plugin(suite: Path) -> Path:
    """The path of the suite's `plugin.py`."""
    if not (suite / "pyproject.toml").is_file():
        raise ScaffoldError(f"{suite} is not a suite: it has no pyproject.toml")
    found = sorted(suite.glob("src/*/plugin.py"))
    if len(found) != 1:
        raise ScaffoldError(f"{suite} must have one src/PACKAGE/plugin.py that announces its environments")
    return found[0]


def module_name(class_name: str) -> str:
    """The name of a class's module: `four_rooms` for `FourRooms`, `mnist_bandit` for `MNISTBandit`."""
    if not re.fullmatch("[A-Z][A-Za-z0-9]*", class_name) or keyword.iskeyword(class_name):
        raise ScaffoldError(f"{class_name!r} is not a class name: write it like FourRooms")
    name = re.sub("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", class_name).lower()
    if keyword.iskeyword(name):
        raise ScaffoldError(f"{class_name!r} would be in {name}.py, which Python cannot import: choose another name")
    return name


def checked_summary(summary: str, env_id: str) -> str:
    """Checks the summary, and adds a full stop if there is none."""
    summary = summary.strip()
    if not summary or not summary.isprintable() or "\\" in summary or '"' in summary:
        raise ScaffoldError("the summary must be one line of plain text without quotes or backslashes")
    summary = summary if summary.endswith((".", "!", "?")) else f"{summary}."
    excess = max(len(f'    """{env_id}: {summary}'), len(f'            summary="{summary}",')) - _LINE_LENGTH
    if excess > 0:
        raise ScaffoldError(f"the summary is {excess} characters too long for a line")
    return summary


def check_unannounced(plugin: Path, env_id: str) -> None:
    """Checks that neither the suite, which need not be installed, nor anything installed announces the id."""
    try:
        own = [spec.id for spec in runpy.run_path(str(plugin))[_HOOK]()]
    except Exception as error:
        raise ScaffoldError(f"{plugin} does not work: {type(error).__name__}: {error}") from error
    owners = [str(plugin)] if env_id in own else []
    owners += [found.distribution for found in registry.values() if found.spec.id == env_id]
    if owners:
        raise ScaffoldError(f"{env_id} is announced already, by {owners[0]}: choose another id")


def fill(template: str, names: dict[str, str]) -> str:
    """Fills the names into a template."""
    text = Path(__file__).with_name(template).read_text(encoding="utf-8")
    return string.Template(text).substitute(names)


def with_row(plugin: Path, env_id: str, entry_point: str, summary: str) -> str:
    """The source of `plugin.py` with a new row after the last one."""
    source = plugin.read_bytes()  # positions in a syntax tree count bytes
    rows = returned_list(ast.parse(source))
    if rows is None:
        raise ScaffoldError(f"{_HOOK}() in {plugin} must return a literal list [...] of rows: add the row by hand")
    fields = {"id": env_id, "entry_point": entry_point, "summary": summary, "source": "TODO"}
    arguments = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in fields.items())
    row = f"EnvSpec({arguments},)"
    if rows.elts:
        last = rows.elts[-1]
        at, row = position(source, last.end_lineno, last.end_col_offset), f", {row}"
    else:
        at, row = position(source, rows.lineno, rows.col_offset + 1), f"{row},"
    return (source[:at] + row.encode() + source[at:]).decode()


def returned_list(tree: ast.Module) -> ast.List | None:
    """The literal list that the hook returns, if there is one."""
    hooks = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == _HOOK]
    returned = [node.value for hook in hooks for node in ast.walk(hook) if isinstance(node, ast.Return)]
    return returned[0] if len(returned) == 1 and isinstance(returned[0], ast.List) else None


def position(source: bytes, line: int | None, column: int | None) -> int:
    """The byte offset of a line (from 1) and column (in bytes) in the source."""
    assert line is not None
    assert column is not None
    return sum(len(text) for text in source.splitlines(keepends=True)[: line - 1]) + column


if __name__ == "__main__":
    main()
