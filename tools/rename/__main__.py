"""Renames envcore: the core's distribution, the plugins that begin with its name and, if asked to, what users import.

    uv run python tools/rename jaxenvs                          # pip install jaxenvs jaxenvs-minatar; import envcore
    uv run python tools/rename jaxenvs --import-name jaxenvs    # import jaxenvs, too, and the command jaxenvs

The name of the distribution is the one in core/pyproject.toml; where other files repeat it, it is told from the import
package by what stands around it. The import name is also that of the command, the entry points, the environment
variables and `EnvcoreError`. The repository's address stays. Afterwards `git diff`, `uv sync`, `uv run ruff check
--fix` and the tests show what is left to do: prose, the order of imports and the width of lines.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.utils import is_normalized_name

_ROOT = Path(__file__).parents[2]
_AS_DISTRIBUTION = (
    r"(?<![\w.])NAME(?=-)",  # a plugin, such as envcore-minatar
    r"(?<![\w.-])NAME(?=\[[a-z])",  # with an extra
    r"(?<![\w.-])NAME(?=(?:[<>=~!]=|[<>])\d)",  # with a bound
    r'(?<=\bname = ")NAME(?=")',  # pyproject.toml and uv.lock
    r"^NAME(?= = \{ workspace = true \}$)",  # pyproject.toml
    r'(?<=^    ")NAME(?=",$)',  # the members in uv.lock
    r"(?<=\bpip install )NAME\b(?![_.-])",
    r'(?<=^CORE = ")NAME(?="$)',  # the constants of programs
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("distribution", help="the new name of the core's distribution")
    parser.add_argument("--import-name", help="the new name to import; left as it is by default")
    parser.add_argument("--root", type=Path, default=_ROOT, help="the repository")
    options = parser.parse_args()
    if not is_normalized_name(options.distribution):
        sys.exit(f"error: {options.distribution!r} is not the name of a distribution, such as jaxenvs")
    if options.import_name is not None and not re.fullmatch("[a-z][a-z0-9]*", options.import_name):
        sys.exit(f"error: {options.import_name!r} is not lower-case letters and digits, such as jaxenvs")
    rename(options.root, options.distribution, options.import_name)
    subprocess.run(["uv", "lock"], cwd=options.root, check=True)


def rename(root: Path, distribution: str, package: str | None = None) -> None:
    """Renames in the files that git tracks, and the folders of packages."""
    old = tomllib.loads((root / "core" / "pyproject.toml").read_text())["project"]["name"]
    (old_package,) = (path.parent.name for path in root.glob("core/src/*/version.py"))
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        path = root / name
        try:
            text = path.read_bytes().decode()
        except UnicodeDecodeError:  # a picture or recorded data
            continue
        new = renamed(text, old, "\0")
        if package is not None:
            new = _with_package(new, old_package, package)
        new = new.replace("\0", distribution)
        if new != text:
            path.write_bytes(new.encode())
    if package is not None:
        for path in [*root.glob(f"p*/*/src/{old_package}_*"), root / "core" / "src" / old_package]:
            path.rename(path.with_name(path.name.replace(old_package, package, 1)))


def renamed(text: str, old: str, new: str) -> str:
    """A text with another name of the distribution."""
    for pattern in _AS_DISTRIBUTION:
        text = re.sub(pattern.replace("NAME", re.escape(old)), new, text, flags=re.MULTILINE)
    return text


def _with_package(text: str, old: str, new: str) -> str:
    """A text with another name to import, but the same address of the repository."""
    address = rf"(?<!github\.com/){old}(?!/{old}\b)(?<!github\.com/{old}/{old})"
    text = re.sub(address, new, text)
    return text.replace(old.upper(), new.upper()).replace(old.capitalize(), new.capitalize())


if __name__ == "__main__":
    main()
