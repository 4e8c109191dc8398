"""Compiles envcore-native's kernels for GPUs, without one, and reads the machine code.

    uv run --with nvidia-cuda-nvdisasm python tools/benchmark/fused.py [ID...]

It writes `tools/site/data/fused.json`, a row for each environment, GPU, policy and what is collected: registers of a
thread, bytes of local memory (where registers spill), instructions of a step, and seconds of a core to compile. The
instructions of a step are those inside the loop of steps, each counted once: what only some steps run, such as a game's
reset, counts in full.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib.metadata
import json
import re
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import envcore
import jax
import jax.numpy as jnp
import warp as wp
from envcore.environment import Environment
from envcore.rollout import Policy, Transition, random_policy, start_rollout
from envcore.typing import PyTree
from envcore.wrappers import Batched
from envcore_native import kernels, run_rollout

DATA = Path(__file__).parents[1] / "site" / "data" / "fused.json"
GPUS = {"H100": 90, "A100": 80}
NUM_ENVS = 65_536
COLLECT: dict[str, Callable[[Transition], PyTree]] = {
    "nothing": lambda step: (),
    "transitions": lambda step: (step.obs, step.action, step.reward, step.done),
}


def main() -> None:
    """Compiles the environments, and writes what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID", help="environments (default: all of ours and the example's)")
    ids = parser.parse_args().ids or environments()
    rows = {_program(row): row for row in (json.loads(DATA.read_text()) if DATA.exists() else ())}
    for env_id in ids:
        for row in measure(env_id):
            rows[_program(row)] = row
            print(*row.values(), flush=True)
        lines = [json.dumps(rows[program]) for program in sorted(rows)]
        DATA.write_text("[\n " + ",\n ".join(lines) + "\n]\n")


def environments() -> list[str]:
    """The ids of our environments and the example's, without those whose data must be downloaded."""
    return [name for name in envcore.registry if "/" not in name and "MNIST" not in name]


def measure(env_id: str) -> list[dict[str, Any]]:
    """A row for each GPU and what is collected."""
    batch = Batched(envcore.make(env_id)[0], NUM_ENVS)
    rows = []
    for collected, collect in COLLECT.items():
        kernel, block = rollout_kernel(batch, random_policy(batch), collect=collect)
        for gpu, arch in GPUS.items():
            row = {"id": env_id, "policy": "random", "collected": collected, "gpu": gpu}
            rows.append(row | compiled(kernel, block, arch) | {"warp": wp.__version__})
    return rows


def rollout_kernel(env: Environment, policy: Policy, **options: Any) -> tuple[Any, int]:
    """Warp's kernel of `run_rollout`, not yet compiled, and the number of threads of a block.

    Args:
      env: as `run_rollout` takes it.
      policy: as `run_rollout` takes it.
      options: `params` and `collect`.
    """
    found: list[tuple[Any, int]] = []

    def instead(name: str, text: str, scalars: Any, inputs: Any, outputs: Any, *, threads: int, block: int) -> Any:
        types = kernels.array_types(inputs, outputs)
        kernel = kernels.kernel(name, text, tuple(scalars), types, len(outputs), block)
        found.append((kernel.kernel, block))
        return [jnp.zeros(*output) for output in outputs]

    def run(key: jax.Array) -> PyTree:
        start = start_rollout(env, key, options.get("params"))
        return run_rollout(env, policy, start, 100, **options)

    with mock.patch.object(kernels, "call", instead):
        jax.eval_shape(run, jax.random.key(0))
    return found[-1]


def compiled(kernel: Any, block: int, arch: int) -> dict[str, Any]:
    """What a kernel becomes on a GPU of this compute capability, a two-digit number."""
    kernel.module.options["block_dim"] = block
    with tempfile.TemporaryDirectory() as folder, kernels.quiet():
        started = time.process_time()
        paths = wp.compile_aot_module(kernel.module, arch=arch, module_dir=folder, use_ptx=False)
        seconds = time.process_time() - started
        command = [str(disassembler()), str(paths[0])]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {
        "registers": fact(text, "EIATTR_REGCOUNT"),
        "spilled_bytes": fact(text, "EIATTR_FRAME_SIZE"),
        "instructions": instructions_of_a_step(text),
        "compile_seconds": round(seconds, 1),
    }


@functools.cache
def disassembler() -> Path | None:
    """Where the wheel nvidia-cuda-nvdisasm has its program; None where it is not installed."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        for file in importlib.metadata.files("nvidia-cuda-nvdisasm") or ():
            if file.stem == "nvdisasm":
                return Path(str(file.locate()))
    return None


def instructions_of_a_step(text: str) -> int:
    """The length of the loop of steps: the longest inside the one with which Warp goes through all threads."""
    loops = _loops(text)
    inside = [end - first for first, end in loops if any(a <= first < end < b for a, b in loops)]
    if not inside:
        raise ValueError("the machine code has no loop inside a loop")
    return max(inside)


def _loops(text: str) -> list[tuple[int, int]]:
    """The numbers of the first instruction of each loop and of that after it."""
    labels: dict[str, int] = {}
    ends: dict[int, int] = {}
    number = -1
    for line in text.splitlines():
        label = re.match(r"(\.L_x_\d+):", line)
        if label:
            labels[label[1]] = number + 1
        elif re.match(r"\s+/\*[0-9a-f]+\*/ {10}", line):
            number += 1
            target = re.search(r"\bBRA\b.*`\((\.L_x_\d+)\)", line)
            if target and target[1] in labels:
                ends[labels[target[1]]] = number + 1
    return list(ends.items())


def fact(text: str, name: str) -> int:
    """The largest number of a kind, of the kernel and the functions that it calls."""
    return max(int(each, 16) for each in re.findall(rf"{name}\b.*?\.word\s+(0x[0-9a-f]+)", text, flags=re.DOTALL))


def _program(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(row[name] for name in ("id", "policy", "collected", "gpu"))


if __name__ == "__main__":
    main()
