"""Compares this checkout with another one of envcore, in two processes that take turns.

Two separate runs of a benchmark can differ by 20% for the same program, because the machine changes. Two runs that
follow each other differ by 1 or 2%. Each checkout runs its own `workloads`: if these differ too, only "envcore, same
loop" shows what changed in the library.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import report
from report import table
from workloads import readings

_HERE = Path(__file__).resolve().parent
_COLUMNS = ("id", "environments", "reads", "program", "M steps/s", "time after / before", "compile time after / before")


def compare(
    checkout: Path, env_id: str, num_envs: int, num_steps: int, variants: list[str], repeats: int, compiles: int
) -> list[dict[str, Any]]:
    """Measures programs of this checkout (after) and of another one (before).

    Args:
      checkout: the other one, with its environment `.venv` that has the group `peers`.
      env_id: what `make` takes.
      num_envs: number of environments.
      num_steps: steps of each environment in a run.
      variants: of `VARIANTS`.
      repeats: runs of each program.
      compiles: compilations of each program.

    Returns:
      One row per program, with the median of the ratios of two runs that follow each other.

    Raises:
      SystemExit: a process ended early.
    """
    rows = []
    for variant in variants:
        for reading, dtype in readings(variant, env_id).items():
            program = (env_id, num_envs, num_steps, variant, reading, compiles)
            with (
                Program(checkout / ".venv/bin/python", checkout, *program) as before,
                Program(Path(sys.executable), _HERE.parents[1], *program) as after,
            ):
                seconds = [_in_turn(before, after, swapped=bool(number % 2)) for number in range(repeats)]
            rows.append(
                {
                    "id": env_id,
                    "num_envs": num_envs,
                    "variant": variant,
                    "reads": dtype,
                    "steps_per_second": num_envs * num_steps / statistics.median(pair[1] for pair in seconds),
                    "time_ratio": statistics.median(pair[1] / pair[0] for pair in seconds),
                    "compile_ratio": after.compile_seconds / before.compile_seconds,
                    "seconds": seconds,
                }
            )
    return rows


def markdown(rows: list[dict[str, Any]], header: bool) -> str:
    """Formats one line per row, with an optional header."""
    cells = [
        (
            *report.program(row),
            f"{row['steps_per_second'] / 1e6:.3g}",
            f"{row['time_ratio']:.2f}",
            f"{row['compile_ratio']:.2f}",
        )
        for row in rows
    ]
    return table(_COLUMNS, cells, header)


class Program:
    """A program in a process of its own.

    Args:
      python: the interpreter.
      *arguments: those of `worker.py`.
    """

    def __init__(self, python: Path, *arguments: Any):
        command = [python, _HERE / "worker.py", *arguments]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(list(map(str, command)), stdin=pipe, stdout=pipe, text=True, bufsize=1)
        self.compile_seconds = self._number()

    def run(self) -> float:
        """Runs it once; returns the seconds."""
        assert self._process.stdin
        self._process.stdin.write("\n")
        return self._number()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def _number(self) -> float:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            self._process.communicate()
            raise SystemExit(f"A benchmark process ended with status {self._process.returncode}; its error is above.")
        return float(line)


def _in_turn(before: Program, after: Program, swapped: bool) -> tuple[float, float]:
    if swapped:
        second = after.run()
        return before.run(), second
    return before.run(), after.run()
