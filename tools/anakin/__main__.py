"""Compares Anakin on the Podracer notebook's Catch and on ours: `uv run python tools/anakin --help`.

Both are the notebook's own program, as printed, with two forced CPU devices; for ours, `PodracerEnv` stands in for its
`Catch`. They run in one process and take turns. It prints the median frames per second of each, as the notebook
measures them, and the median ratio of the pairs.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import statistics
import sys
from pathlib import Path
from typing import Any

BASELINES = Path(__file__).parents[2] / "plugins" / "baselines"
NOTEBOOK = BASELINES / "tests" / "podracer_notebook.md"
IMPORTS = """
import timeit
import chex
import haiku as hk
import jax
import optax
import rlax
from jax import lax, random
from jax import numpy as jnp
jax.tree_map = jax.tree.map
"""


def main() -> None:
    """Parses the command line, measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch-size", type=int, default=128, help="per device")
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--devices", type=int, default=2)
    args = parser.parse_args()
    flags = os.environ.get("XLA_FLAGS", "")
    os.environ["XLA_FLAGS"] = f"{flags} --xla_force_host_platform_device_count={args.devices}"
    sys.path.insert(0, str(BASELINES / "examples"))
    import envcore
    from podracer import PodracerEnv  # pyright: ignore[reportMissingImports]

    names = _notebook()
    envs = {"the notebook's Catch": names["Catch"](), "Catch-bsuite": PodracerEnv(*envcore.make("Catch-bsuite"))}
    rates: dict[str, list[float]] = {name: [] for name in envs}
    for _ in range(args.repeats):
        for name, env in envs.items():
            rates[name].append(_frames_per_second(names, env, args.batch_size, args.iterations))
    theirs, ours = rates.values()
    print("| environment | frames/s |\n|---|---|")
    for name, found in rates.items():
        print(f"| {name} | {statistics.median(found):,.0f} |")
    ratio = statistics.median(our / their for our, their in zip(ours, theirs, strict=True))
    print(f"\nratio {ratio:.2f}, {args.devices} devices, batches of {args.batch_size}")


def _notebook() -> dict[str, Any]:
    """The names that the notebook's cells define."""
    cells = re.findall(r"In \[None\]:\n(.*?)\n\n(?=#|In \[None\]:|Running on)", NOTEBOOK.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec("\n\n".join([IMPORTS, *cells[1:-1]]), names)  # without the installation and the call
    return names


def _frames_per_second(names: dict[str, Any], env: Any, batch_size: int, iterations: int) -> float:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        names["run_experiment"](env, batch_size, 16, 1e-4, iterations, 42)
    (found,) = re.findall(r"EXECUTION: .* FPS=(.*)", printed.getvalue())
    return float(found)


if __name__ == "__main__":
    main()
