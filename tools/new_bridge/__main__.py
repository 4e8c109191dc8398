"""Adds a bridge: a plugin that brings the environments of another JAX library into envcore.

    uv run python tools/new_bridge jumanji Jumanji "jumanji>=1.1"

The parts that you have to write are marked TODO. Until then it announces one environment, which cannot be made.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import shutil
import string
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_TEMPLATES = Path(__file__).parent


class ScaffoldError(Exception):
    """An argument is invalid, or the bridge exists already."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="new_bridge", description="Add a bridge to another library's environments.")
    parser.add_argument("library", help="what Python imports, for example jumanji")
    parser.add_argument("title", help="the library's name in text and in names of classes, for example Jumanji")
    parser.add_argument("requirement", help='what pip installs, for example "jumanji>=1.1"')
    parser.add_argument("--plugins", type=Path, default=_ROOT / "plugins", help="the folder for it")
    options = parser.parse_args()
    folder = options.plugins / options.library
    if importlib.util.find_spec("ruff") is None:
        sys.exit("error: ruff, which formats the files, is not installed: pip install ruff, or use `uv run python`.")
    try:
        files = scaffold(folder, options.library, options.title, options.requirement)
    except ScaffoldError as error:
        sys.exit(f"error: {error}")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path)
    shutil.copyfile(_ROOT / "LICENSE", folder / "LICENSE")
    python = [path for path in files if path.suffix == ".py"]
    for tidy in (["check", "--select", "I", "--fix"], ["format"]):
        settings = ("--config", _ROOT / "pyproject.toml", "--quiet")
        subprocess.run([sys.executable, "-m", "ruff", *tidy, *settings, *python], check=True)
    print(
        f"Now write what these files say TODO. In this repository, also add envcore-{options.library} to "
        "`dependencies` and `tool.uv.sources` of the root's pyproject.toml, its package to `tool.importlinter` there, "
        "an extra to core/pyproject.toml, its family to core/src/envcore/index.json, the library to "
        ".github/workflows/exhaustive.yml, its own loop to tools/benchmark/bridges.py, a row to the table in "
        "tools/site/pages/howto/other_libraries.md, and run `uv lock`."
    )


def scaffold(folder: Path, library: str, title: str, requirement: str) -> dict[Path, str]:
    """Returns the files to write, without writing them.

    Raises:
      ScaffoldError: an argument is invalid, or the folder exists already.
    """
    if not re.fullmatch("[a-z][a-z0-9_]*", library):
        raise ScaffoldError(f"{library!r} is not the name of a Python package: write it like jumanji")
    if not re.fullmatch("[A-Z][A-Za-z0-9]*", title):
        raise ScaffoldError(f"{title!r} cannot be part of a class's name: write it like Jumanji")
    if folder.exists():
        raise ScaffoldError(f"{folder} exists already")
    names = {"library": library, "title": title, "requirement": requirement}
    package = folder / "src" / f"envcore_{library}"
    made = {
        folder / "pyproject.toml": "pyproject.toml",
        folder / "README.md": "README.md",
        folder / "CHANGELOG.md": "CHANGELOG.md",
        package / "__init__.py": "init.py",
        package / "plugin.py": "plugin.py",
        package / "bridge.py": "bridge.py",
        folder / "tests" / "test_bridge.py": "test_bridge.py",
    }
    files = {path: fill(template, names) for path, template in made.items()}
    return {**files, package / "py.typed": ""}


def fill(template: str, names: dict[str, str]) -> str:
    """Fills the names into a template."""
    text = (_TEMPLATES / f"{template}.template").read_text(encoding="utf-8")
    return string.Template(text).substitute(names)


if __name__ == "__main__":
    main()
