"""One program in a process: `worker.py CHECKOUT ID NUM_ENVS NUM_STEPS VARIANT READING COMPILES [CORES DEVICES]`.

Writes the median seconds to trace and compile it, and then for each line that it reads, the seconds of one run.
"""

from __future__ import annotations

import functools
import os
import statistics
import sys
import time
from typing import Any

import jax


def main() -> None:
    """Compiles the program, then runs it once for each line."""
    checkout, env_id, num_envs, num_steps, variant, reading, compiles, *machine = sys.argv[1:]
    sys.path.insert(0, f"{checkout}/tools/benchmark")
    cores, devices = map(int, machine) if machine else (None, 1)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    jax.config.update("jax_num_cpu_devices", devices)
    from workloads import VARIANTS

    make = VARIANTS[variant]
    if devices > 1:
        from workloads import on_all_devices

        make = functools.partial(on_all_devices, variant)

    key, compile_seconds = jax.random.PRNGKey(0), []
    program: Any = None
    for _ in range(int(compiles)):
        jax.clear_caches()  # so that tracing is measured every time
        run = make(env_id, int(num_envs), int(num_steps), reading)
        started = time.perf_counter()
        program = jax.jit(run).lower(key).compile()
        compile_seconds.append(time.perf_counter() - started)
    jax.block_until_ready(program(key))
    print(statistics.median(compile_seconds), flush=True)

    for _ in sys.stdin:
        started = time.perf_counter()
        jax.block_until_ready(program(key))
        print(time.perf_counter() - started, flush=True)


if __name__ == "__main__":
    main()
