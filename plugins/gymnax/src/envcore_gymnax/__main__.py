"""Run a program that imports gymnax on envcore: `python -m envcore_gymnax SCRIPT ARGS...`, or `-m MODULE ARGS...`."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

from envcore_gymnax.alias import install


def main() -> None:
    """Calls `install`, then runs a program like `python SCRIPT ARGS...` or `python -m MODULE ARGS...`."""
    parser = argparse.ArgumentParser(
        prog="python -m envcore_gymnax",
        usage="%(prog)s [-h] [--six-values] (SCRIPT | -m MODULE) [ARGS ...]",
        description="Run a program in which `import gymnax` imports envcore-gymnax.",
    )
    parser.add_argument("--six-values", action="store_true", help="make `step` return six values, as in gymnax 1")
    parser.add_argument(
        "-m", dest="module", nargs=argparse.REMAINDER, help="module to run, such as pytest, and its arguments"
    )
    parser.add_argument("script", nargs=argparse.REMAINDER, help="Python file to run, and its arguments")
    options = parser.parse_args()
    program = options.script if options.module is None else options.module
    if not program:
        parser.error("give a script, or -m and a module")
    if options.module is None and not Path(program[0]).exists():
        parser.error(f"the file {program[0]} does not exist")
    install(six_values=options.six_values)
    sys.argv = program
    if options.module is None:
        sys.path[0] = str(Path(program[0]).resolve().parent)
        runpy.run_path(program[0], run_name="__main__")
    else:
        runpy.run_module(program[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
