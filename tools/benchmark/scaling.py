"""Compares one core with all cores, in processes that take turns: `envcore`'s own rollouts.

"one core" is a process that may use only one core, with one device. "threads" is one device on all cores, which XLA
shares out as it likes. "devices" is one device for each core, with the environments split over them.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from typing import Any

import report
from report import table
from versions import Program
from workloads import SPREADABLE, readings

_CHECKOUT = Path(__file__).resolve().parents[2]
_COLUMNS = ("id", "environments", "reads", "program", "one core", "threads", "devices", "to one core", "to threads")


def scale(
    cores: int, env_id: str, num_envs: int, num_steps: int, variants: list[str], repeats: int, compiles: int
) -> list[dict[str, Any]]:
    """Measures programs on one and on several cores.

    Args:
      cores: number of cores, and of devices.
      env_id: what `make` takes.
      num_envs: number of environments, on all devices together.
      num_steps: steps of each environment in a run.
      variants: of `SPREADABLE`; others are left out.
      repeats: runs of each program.
      compiles: compilations of each program.

    Returns:
      One row per program, with the medians of the speeds, and of the ratios of runs that follow each other.

    Raises:
      SystemExit: a process ended early.
    """
    rows = []
    for variant in [variant for variant in variants if variant in SPREADABLE]:
        for reading, dtype in readings(variant, env_id).items():
            program = (Path(sys.executable), _CHECKOUT, env_id, num_envs, num_steps, variant, reading, compiles)
            with (
                Program(*program, 1, 1) as one_core,
                Program(*program, cores, 1) as threads,
                Program(*program, cores, cores) as devices,
            ):
                seconds = [[each.run() for each in (one_core, threads, devices)] for _ in range(repeats)]
            rates = [num_envs * num_steps / statistics.median(times) for times in zip(*seconds, strict=True)]
            rows.append(
                {
                    "id": env_id,
                    "num_envs": num_envs,
                    "variant": variant,
                    "reads": dtype,
                    "steps_per_second": rates,
                    "ratios": [statistics.median(turn[i] / turn[2] for turn in seconds) for i in range(2)],
                    "seconds": seconds,
                }
            )
    return rows


def markdown(rows: list[dict[str, Any]], header: bool) -> str:
    """Formats one line per row, with an optional header; speeds are in millions of steps per second."""
    cells = [
        (
            *report.program(row),
            *(f"{rate / 1e6:.3g}" for rate in row["steps_per_second"]),
            *(f"{ratio:.2f}" for ratio in row["ratios"]),
        )
        for row in rows
    ]
    return table(_COLUMNS, cells, header)
