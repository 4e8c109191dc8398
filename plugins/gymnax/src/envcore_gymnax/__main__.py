"""Runs somebody's script that says `import gymnax`: `python -m envcore_gymnax SCRIPT ARGS...`."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

from envcore_gymnax.alias import install


def main() -> None:
    """Runs the script as `python SCRIPT ARGS...` would, after `install`."""
    parser = argparse.ArgumentParser(
        prog="python -m envcore_gymnax", description="Runs a script in which `import gymnax` finds envcore-gymnax."
    )
    parser.add_argument("--six-values", action="store_true", help="`step` returns six values, as in gymnax 1")
    parser.add_argument("script", help="a Python file")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="its arguments")
    options = parser.parse_args()
    if not Path(options.script).exists():
        parser.error(f"there is no file {options.script}")
    install(six_values=options.six_values)
    sys.argv = [options.script, *options.args]
    sys.path[0] = str(Path(options.script).resolve().parent)
    runpy.run_path(options.script, run_name="__main__")


if __name__ == "__main__":
    main()
