"""Timing: compiles each variant, then runs them alternately."""

from __future__ import annotations

import statistics
import time
from typing import Any

import jax
from workloads import BASELINES, FLOAT32, FLOOR, VARIANTS, readings


def measure(
    env_id: str, num_envs: int, num_steps: int, variants: list[str], repeats: int, compiles: int, devices: int
) -> list[dict[str, Any]]:
    """Measures the variants on one environment and batch size, in each of their readings.

    Returns one row per program, with its median rate, its speed relative to the baseline's in the same reading (or in
    float32, if the baseline has no other), and its time as a multiple of the memory floor's in the same reading.
    """
    programs, compile_seconds, dtypes = {}, {}, {}
    keys = jax.random.split(jax.random.PRNGKey(0), devices)
    for variant in variants:
        for reading, dtype in readings(variant, env_id).items():
            program, times = (variant, reading), []
            dtypes[program] = dtype
            run = VARIANTS[variant](env_id, num_envs, num_steps, reading)
            for _ in range(compiles):
                jax.clear_caches()  # so that tracing is measured every time
                started = time.perf_counter()
                programs[program] = _compile(run, keys, devices)
                times.append(time.perf_counter() - started)
            compile_seconds[program] = statistics.median(times)
            jax.block_until_ready(programs[program](keys))

    seconds: dict[tuple[str, str], list[float]] = {program: [] for program in programs}
    for _ in range(repeats):
        for program, run in programs.items():
            started = time.perf_counter()
            jax.block_until_ready(run(keys))
            seconds[program].append(time.perf_counter() - started)

    medians = {program: statistics.median(times) for program, times in seconds.items()}
    rows = []
    for (variant, reading), median in medians.items():
        baseline = BASELINES.get(variant, "gymnax")
        baseline_seconds = medians.get((baseline, reading), medians.get((baseline, FLOAT32)))
        floor_seconds = medians.get((FLOOR, reading))
        rows.append(
            {
                "id": env_id,
                "num_envs": num_envs,
                "devices": devices,
                "device": jax.devices()[0].device_kind,
                "jax": jax.__version__,
                "variant": variant,
                "reads": dtypes[variant, reading],
                "steps_per_second": num_envs * num_steps * devices / median,
                "baseline": baseline,
                "ratio": None if baseline_seconds is None else baseline_seconds / median,
                "of_floor": None if floor_seconds is None else median / floor_seconds,
                "compile_seconds": compile_seconds[variant, reading],
                "seconds": seconds[variant, reading],
            }
        )
    return rows


def _compile(run: Any, keys: jax.Array, devices: int) -> Any:
    if devices > 1:
        return jax.pmap(run).lower(keys).compile()
    return jax.jit(lambda keys: run(keys[0])).lower(keys).compile()
