"""Timing: compile each variant, then run them alternately."""

from __future__ import annotations

import statistics
import time
from typing import Any

import jax
from workloads import BASELINES, VARIANTS


def measure(
    env_id: str, num_envs: int, num_steps: int, variants: list[str], repeats: int, compiles: int, devices: int
) -> list[dict[str, Any]]:
    """Measures the variants on one environment and batch size: one row each, with medians in seconds and rates."""
    programs, compile_seconds = {}, {}
    keys = jax.random.split(jax.random.PRNGKey(0), devices)
    for variant in variants:
        run = VARIANTS[variant](env_id, num_envs, num_steps)
        times = []
        for _ in range(compiles):
            jax.clear_caches()  # so that tracing is paid for every time
            started = time.perf_counter()
            programs[variant] = _compile(run, keys, devices)
            times.append(time.perf_counter() - started)
        compile_seconds[variant] = statistics.median(times)
        jax.block_until_ready(programs[variant](keys))

    seconds: dict[str, list[float]] = {variant: [] for variant in variants}
    for _ in range(repeats):
        for variant in variants:
            started = time.perf_counter()
            jax.block_until_ready(programs[variant](keys))
            seconds[variant].append(time.perf_counter() - started)

    medians = {variant: statistics.median(times) for variant, times in seconds.items()}
    rows = []
    for variant in variants:
        baseline = BASELINES.get(variant, "gymnax")
        rows.append(
            {
                "id": env_id,
                "num_envs": num_envs,
                "devices": devices,
                "device": jax.devices()[0].device_kind,
                "jax": jax.__version__,
                "variant": variant,
                "steps_per_second": num_envs * num_steps * devices / medians[variant],
                "baseline": baseline,
                "ratio": medians[baseline] / medians[variant] if baseline in medians else None,
                "compile_seconds": compile_seconds[variant],
                "seconds": seconds[variant],
            }
        )
    return rows


def _compile(run: Any, keys: jax.Array, devices: int) -> Any:
    if devices > 1:
        return jax.pmap(run).lower(keys).compile()
    return jax.jit(lambda keys: run(keys[0])).lower(keys).compile()
