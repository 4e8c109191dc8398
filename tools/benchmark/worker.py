"""One program of a checkout, for `versions`: `worker.py CHECKOUT ID NUM_ENVS NUM_STEPS VARIANT READING COMPILES`.

Writes the median seconds to trace and compile it, and then for each line that it reads, the seconds of one run.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import jax


def main() -> None:
    """Compiles the program, then runs it once for each line."""
    checkout, env_id, num_envs, num_steps, variant, reading, compiles = sys.argv[1:]
    sys.path.insert(0, f"{checkout}/tools/benchmark")
    from workloads import VARIANTS

    key, compile_seconds = jax.random.PRNGKey(0), []
    program: Any = None
    for _ in range(int(compiles)):
        jax.clear_caches()  # so that tracing is measured every time
        run = VARIANTS[variant](env_id, int(num_envs), int(num_steps), reading)
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
