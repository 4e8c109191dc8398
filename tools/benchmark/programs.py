"""What XLA makes of every environment on a GPU that is not there: kernels, bytes and memory of an iteration.

The programs are those that `--gpu` and the comparison with gymnax run. Each row is written as soon as it is known, so a
second run goes on where the first one stopped.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import envcore
import gpu
import jax
import numpy as np
import peers
from envcore_bsuite import mnist_data
from gpu_compiler import TARGETS, compile_for
from kernels import iteration_of
from nothing import Nothing
from report import table
from training import ROLLOUT_STEPS
from workloads import FLOAT32, VARIANTS, has

Row = dict[str, Any]

NOTHING = ("Nothing-v0", "NothingContinuous-v0")
"""Environments that do nothing, with discrete and with continuous actions: what the loop itself costs."""

SIZES = tuple(gpu.STEPS)
"""Numbers of environments."""

_MEASURED = Path(__file__).parents[1] / "site/data/gpu.json"

_UPDATES = 7
"""Of PPO in a program: no other loop of it runs seven times."""

_COLUMNS = (
    "id", "environments", "program", "kernels", "starts", "inner loops", "copies", "bytes / environment",
    "temporary MB", "compile s", "us H200, computed", "us H200, measured",
)  # fmt: skip


def _blank_images(source: mnist_data.Source) -> mnist_data.Mnist:
    images = np.zeros((1_000, mnist_data.SIDE, mnist_data.SIDE), np.uint8)
    return mnist_data.Mnist(images, np.zeros(len(images), np.uint8))


_without_download = mock.patch.object(mnist_data, "load", _blank_images)


def _loop(label: str) -> Callable[[str, int], tuple[Any, int]]:
    """A loop of `--gpu`, and its iterations."""

    def build(env_id: str, num_envs: int) -> tuple[Any, int]:
        steps = gpu.STEPS[num_envs]
        return gpu.program_of(gpu.Case(env_id, num_envs, label), steps), steps

    return build


def _swap(env_id: str, num_envs: int) -> tuple[Any, int]:
    steps = gpu.STEPS[num_envs]
    return VARIANTS["envcore, same loop"](env_id, num_envs, steps, FLOAT32), steps


def _updates(variant: str) -> Callable[[str, int], tuple[Any, int]]:
    """Updates of PPO, and their number."""
    return lambda env_id, num_envs: (VARIANTS[variant](env_id, num_envs, _UPDATES * ROLLOUT_STEPS, FLOAT32), _UPDATES)


PROGRAMS: dict[str, Callable[[str, int], tuple[Any, int]]] = {
    "envcore": _loop("envcore"),
    "import swap": _swap,
    "rewards only": _loop("rewards only"),
    "transitions stored": _loop("transitions stored"),
    "PPO": _updates("envcore + its PPO"),
    "PureJaxRL's PPO": _updates("envcore + PPO"),
    "gymnax": _loop("gymnax"),
    "PureJaxRL's PPO on gymnax": _updates("gymnax + PPO"),
}
"""Builders of the programs: a function of a key, and how often its loop runs."""


def environments() -> list[str]:
    """The ids of all environments here, but for those of bridges, after `NOTHING`."""
    for env_id in NOTHING:
        envcore.register(env_id, Nothing, kwargs={"is_continuous": env_id != NOTHING[0]})
    ours = [each for each in envcore.registry if "/" not in each and not each.startswith(NOTHING)]
    return [*NOTHING, *ours]


def cases(ids: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """Id, number of environments and program of each row, the quick and the important ones first."""
    for name in PROGRAMS:
        for num_envs in SIZES:
            for env_id in ids:
                if "gymnax" in name and not _has_gymnax(env_id):
                    continue
                if name.startswith("PureJaxRL") and not _has_ppo(env_id):
                    continue
                if name == "transitions stored" and env_id not in gpu.KEEPING:
                    continue
                if "PPO" in name and env_id in NOTHING:
                    continue
                yield env_id, num_envs, name


def compile_all(path: Path, ids: Sequence[str], target: str) -> list[Row]:
    """Compiles all programs that the file lacks, and those of the ids that are named, and prints their rows.

    Args:
      path: of the JSON file, which is written after each program.
      ids: environments; none for all, of which only the missing rows are made.
      target: of `gpu_compiler.TARGETS`.

    Returns:
      All rows of the file, with the computed microseconds of an iteration on an H200.

    Raises:
      SystemExit: an id is unknown, or the compiler is not installed.
    """
    jax.config.update("jax_platforms", "cpu")  # with the compiler for GPUs, JAX would look for a GPU too
    every = environments()
    if unknown := [each for each in ids if each not in every]:
        raise SystemExit(f"error: no program for {', '.join(unknown)}; ids are {', '.join(every)}")
    rows: list[Row] = json.loads(path.read_text()) if path.exists() else []
    found = {_case(row): row for row in rows if row["target"] == target and row["id"] not in ids}
    others = [row for row in rows if row["target"] != target]
    for case in cases(ids or every):
        if case in found:
            continue
        found[case] = measure(*case, target)
        print(markdown([found[case]], header=len(found) == 1), flush=True)
        rows = [*others, *found.values()]
        beside = path.with_suffix(".part")
        beside.write_text(json.dumps(rows, indent=1))
        beside.replace(path)
        jax.clear_caches()
    return [row if "error" in row else row | {"us_h200": microseconds(row)} for row in rows]


@_without_download
def measure(env_id: str, num_envs: int, name: str, target: str) -> Row:
    """Compiles a program and counts what one iteration of its loop does; why not, if it does not compile."""
    row = {"id": env_id, "num_envs": num_envs, "program": name, "target": target, "jax": jax.__version__}
    program, iterations = PROGRAMS[name](env_id, num_envs)
    started = time.perf_counter()
    try:
        compiled = compile_for(target, program, jax.eval_shape(lambda: jax.random.key(0)))
    except Exception as error:  # XLA's, of any kind
        return row | {"error": (str(error).strip().splitlines() or [type(error).__name__])[0]}
    seconds = time.perf_counter() - started
    iteration = iteration_of(str(compiled.as_text()), iterations)
    if iteration is None:
        return row | {"error": f"no loop of {iterations} iterations"}
    memory: Any = compiled.memory_analysis()
    return row | dataclasses.asdict(iteration) | {"temporary": memory.temp_size_in_bytes, "compile_seconds": seconds}


def microseconds(row: Row) -> float:
    """The time of an iteration that its starts and its bytes allow on an H200, on which `_MEASURED` was measured."""
    return max(row["starts"] * us_per_start(), row["bytes"] / TARGETS["h200"].bandwidth * 1e6)


def us_per_start() -> float:
    """The median time of a kernel where little else takes time: measured with the fewest environments."""
    rows = [row for row in json.loads(_MEASURED.read_text()) if row["num_envs"] == min(SIZES)]
    return statistics.median(row["us"] / row["kernels"] for row in rows if row["variant"] in PROGRAMS)


def markdown(rows: Iterable[Row], header: bool) -> str:
    """Formats one line per row, with an optional header."""
    return table(_COLUMNS, [_cells(row) for row in rows], header)


def _cells(row: Row) -> tuple[str, ...]:
    head = row["id"], f"{row['num_envs']:,}", row["program"]
    if "error" in row:
        return (*head, row["error"], *[""] * (len(_COLUMNS) - len(head) - 1))
    counts = (f"{row[name]:g}" for name in ("kernels", "starts", "inner_loops", "copies"))
    sizes = f"{row['bytes'] / row['num_envs']:.0f}", f"{row['temporary'] / 1e6:.3g}", f"{row['compile_seconds']:.1f}"
    return (*head, *counts, *sizes, f"{microseconds(row):.3g}", f"{_measured().get(_case(row), '')}")


def _measured() -> dict[tuple[str, int, str], float]:
    rows = json.loads(_MEASURED.read_text())
    return {(row["id"], row["num_envs"], row["variant"]): row["us"] for row in rows}


def _case(row: Row) -> tuple[str, int, str]:
    return row["id"], row["num_envs"], row["program"]


@_without_download
def _has_ppo(env_id: str) -> bool:
    return has("envcore + PPO", env_id)


def _has_gymnax(env_id: str) -> bool:
    """Whether gymnax has it too, and needs no images for it."""
    return importlib.util.find_spec("gymnax") is not None and peers.has_gymnax(env_id) and "MNIST" not in env_id
