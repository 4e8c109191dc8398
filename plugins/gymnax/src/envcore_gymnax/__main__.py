"""Runs a program that imports gymnax: `python -m envcore_gymnax SCRIPT ARGS...`, or `-m MODULE ARGS...`."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

from envcore_gymnax.alias import install


def main() -> None:
    """Runs the program as `python SCRIPT ARGS...` or `python -m MODULE ARGS...` would, after `install`."""
    parser = argparse.ArgumentParser(
        prog="python -m envcore_gymnax",
        usage="%(prog)s [-h] [--six-values] (SCRIPT | -m MODULE) [ARGS ...]",
        description="Runs a program in which `import gymnax` finds envcore-gymnax.",
    )
    parser.add_argument("--six-values", action="store_true", help="`step` returns six values, as in gymnax 1")
    parser.add_argument(
        "-m", dest="module", nargs=argparse.REMAINDER, help="a module, such as pytest, and its arguments"
    )
    parser.add_argument("script", nargs=argparse.REMAINDER, help="a Python file, and its arguments")
    options = parser.parse_args()
    program = options.script if options.module is None else options.module
    if not program:
        parser.error("give a script, or -m and a module")
    if options.module is None and not Path(program[0]).exists():
        parser.error(f"there is no file {program[0]}")
    install(six_values=options.six_values)
    sys.argv = program
    if options.module is None:
        sys.path[0] = str(Path(program[0]).resolve().parent)
        runpy.run_path(program[0], run_name="__main__")
    else:
        runpy.run_module(program[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
