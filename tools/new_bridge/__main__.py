"""Adds a bridge, which brings the environments of another JAX library into envcore.

    uv run python tools/new_bridge jumanji Jumanji "jumanji>=1.1"
    uv run python tools/new_bridge jumanji Jumanji "jumanji>=1.1" --out ../envcore-jumanji

The first one adds the library to envcore-bridges, the second one makes a distribution of your own, which depends on it.
The parts that you have to write are marked TODO. Until then it announces one environment, which cannot be made.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import string
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_TEMPLATES = Path(__file__).parent
_PLACES = """In plugins/bridges, add it to README.md: a row of the table, and a section.
Outside of plugins/bridges, three files name it, and nothing else:
  core/src/envcore/suggestions.py: {extra} in `_BRIDGED`
  uv.lock: `uv lock && uv sync`
  tools/site/pages/howto/other_libraries.md: a row of the table of libraries"""


class ScaffoldError(Exception):
    """An argument is invalid, or the bridge exists already."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="new_bridge", description="Add a bridge to another library's environments.")
    parser.add_argument("library", help="what Python imports, for example jumanji")
    parser.add_argument("title", help="the library's name in text and in names of classes, for example Jumanji")
    parser.add_argument("requirement", help='what pip installs, for example "jumanji>=1.1"')
    parser.add_argument("--out", type=Path, help="the folder for a distribution of your own")
    parser.add_argument(
        "--bridges", type=Path, default=_ROOT / "plugins" / "bridges", help="the folder of envcore-bridges"
    )
    options = parser.parse_args()
    if importlib.util.find_spec("ruff") is None:
        sys.exit("error: ruff, which formats the files, is not installed: pip install ruff, or use `uv run python`.")
    names = {"library": options.library, "title": options.title, "requirement": options.requirement}
    try:
        files = added(options.bridges, names) if options.out is None else distribution(options.out, names)
    except ScaffoldError as error:
        sys.exit(f"error: {error}")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path)
    python = [path for path in files if path.suffix == ".py"]
    for tidy in (["check", "--select", "I", "--fix"], ["format"]):
        settings = ("--config", _ROOT / "pyproject.toml", "--quiet")
        subprocess.run([sys.executable, "-m", "ruff", *tidy, *settings, *python], check=True)
    print("Now write what these files say TODO.")
    if options.out is None:
        print(_PLACES.format(extra=_extra(options.library)))


def added(bridges: Path, names: dict[str, str]) -> dict[Path, str]:
    """The files of a library of envcore-bridges, with its row in the table and its extra.

    Raises:
      ScaffoldError: an argument is invalid, or the library is there already.
    """
    library = names["library"]
    package = bridges / "src" / "envcore_bridges"
    files = modules(package / f"{library}.py", bridges / "tests" / f"test_{library}.py", names)
    row = f'    Library("{library}", "{names["title"]}", "TODO: source (year)", "TODO: task", "{library}"),\n'
    extra = _extra(library)
    table, metadata = package / "libraries.py", bridges / "pyproject.toml"
    return files | {
        table: _inserted(table, ")\n\nBY_FAMILY", row),
        metadata: _inserted(metadata, "\n[project.urls]", f'{extra} = ["{names["requirement"]}"]\n').replace(
            'all = ["envcore-bridges[', f'all = ["envcore-bridges[{extra},'
        ),
    }


def distribution(folder: Path, names: dict[str, str]) -> dict[Path, str]:
    """The files of a distribution of its own.

    Raises:
      ScaffoldError: an argument is invalid, or the folder exists already.
    """
    name = f"envcore_{names['library']}"
    package = folder / "src" / name
    if folder.exists():
        raise ScaffoldError(f"{folder} exists already")
    made = {
        folder / "pyproject.toml": "pyproject.toml",
        folder / "README.md": "README.md",
        package / "__init__.py": "init.py",
        package / "plugin.py": "plugin.py",
    }
    files = modules(package / "bridge.py", folder / "tests" / "test_bridge.py", names)
    return {**files, **{path: fill(template, names) for path, template in made.items()}, package / "py.typed": ""}


def modules(bridge: Path, tests: Path, names: dict[str, str]) -> dict[Path, str]:
    """The module of a bridge, and its tests."""
    library, title = names["library"], names["title"]
    if not re.fullmatch("[a-z][a-z0-9_]*", library):
        raise ScaffoldError(f"{library!r} is not the name of a Python package: write it like jumanji")
    if not re.fullmatch("[A-Z][A-Za-z0-9]*", title):
        raise ScaffoldError(f"{title!r} cannot be part of a class's name: write it like Jumanji")
    if bridge.exists():
        raise ScaffoldError(f"{bridge} exists already")
    module = f"{bridge.parent.name}.{bridge.stem}"
    return {bridge: fill("bridge.py", names), tests: fill("test_bridge.py", names | {"module": module})}


def fill(template: str, names: dict[str, str]) -> str:
    """Fills the names into a template."""
    text = (_TEMPLATES / f"{template}.template").read_text(encoding="utf-8")
    return string.Template(text).substitute(names, package=f"envcore_{names['library']}")


def _extra(library: str) -> str:
    return library.replace("_", "-")


def _inserted(path: Path, before: str, line: str) -> str:
    """The text of a file with a line before the place that begins so."""
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1, f"{path} has changed: update tools/new_bridge"
    return text.replace(before, line + before)


if __name__ == "__main__":
    main()
