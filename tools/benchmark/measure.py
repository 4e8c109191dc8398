"""Measure programs in turns, and print tables."""

from __future__ import annotations

import compileall
import functools
import json
import os
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
from workloads import VARIANTS, readings

Row = dict[str, Any]
BASELINES = {"envcore + PPO": "gymnax + PPO", "envcore + its PPO": "gymnax + PPO"}
"""Baselines other than "gymnax". A baseline has the same reading if possible, or else float32."""


def speeds(
    env_id: str, num_envs: int, num_steps: int, variants: Iterable[str], repeats: int, *, is_gpu: bool = False
) -> Iterator[Row]:
    """Measures the median speed of each program on one environment and batch size, and its ratio to the baseline.

    Args:
      env_id: an id for `make`.
      num_envs: number of environments.
      num_steps: steps of each environment in a run.
      variants: names in `VARIANTS`.
      repeats: timed runs of each program.
      is_gpu: whether to compile programs in parallel, and to read observations as float32 only.
    """
    names = [
        (variant, reading, dtype)
        for variant in variants
        for reading, dtype in readings(variant, env_id).items()
        if reading != "own" or not is_gpu
    ]

    def build(name: tuple[str, str, str]) -> tuple[Any, float] | Exception:
        started = time.perf_counter()
        try:
            run = VARIANTS[name[0]](env_id, num_envs, num_steps, name[1])
            return jax.jit(run).lower(jax.random.PRNGKey(0)).compile(), time.perf_counter() - started
        except Exception as error:  # such as out of memory
            return error

    with ThreadPoolExecutor(os.cpu_count() if is_gpu else 1) as pool:
        built = dict(zip(names, pool.map(build, names), strict=True))
    for (variant, *_), found in built.items():
        if isinstance(found, Exception):
            print(f"{env_id}, {num_envs:,}, {variant} is left out: {found}", file=sys.stderr)
    compiled = {name: found for name, found in built.items() if not isinstance(found, Exception)}
    seconds = alternate({name: run for name, (run, _) in compiled.items()}, repeats)
    medians = {name: statistics.median(each) for name, each in seconds.items()}
    rates = {(variant, reading): median for (variant, reading, _), median in medians.items()}
    for (variant, reading, dtype), median in medians.items():
        baseline = BASELINES.get(variant, "gymnax")
        theirs = rates.get((baseline, reading), rates.get((baseline, "float32")))
        yield {
            "id": env_id,
            "num_envs": num_envs,
            "variant": variant,
            "reads": dtype,
            "speed": float(f"{num_envs * num_steps / median / 1e6:.3g}"),
            "ratio": theirs and float(f"{theirs / median:.3g}"),
            "compile": round(compiled[variant, reading, dtype][1], 2),
        }


def alternate(programs: Mapping[Any, Callable[[jax.Array], Any]], repeats: int) -> dict[Any, list[float]]:
    """Measures the seconds of each run of programs that take turns. The first run of each does not count."""
    seconds: dict[Any, list[float]] = {name: [] for name in programs}
    for number in range(repeats + 1):
        for name, run in programs.items():
            started = time.perf_counter()
            jax.block_until_ready(run(jax.random.PRNGKey(number)))
            seconds[name].append(time.perf_counter() - started)
    return {name: each[1:] for name, each in seconds.items()}


def markdown(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yields the lines of a Markdown table. The first row determines the columns."""
    names: list[str] = []
    for row in rows:
        if not names:
            names = list(row)
            yield from (f"| {' | '.join(names)} |", "|---" * len(names) + "|")
        yield f"| {' | '.join(map(_cell, row.values()))} |"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def in_process(path: str, *arguments: str) -> Any:
    """Runs a Python file in a new process, and returns the JSON in its last line. None if it fails."""
    _compile_modules()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, path, *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


@functools.cache
def _compile_modules() -> None:
    """Compiles installed modules to bytecode, as pip does. uv does not by default."""
    for folder in filter(os.path.isdir, sys.path):
        if folder != sysconfig.get_path("stdlib"):
            compileall.compile_dir(folder, quiet=2, workers=0)


def on_one_core() -> None:
    """Pins this process to one core."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
