"""Compare envcore with other libraries: `uv run --no-default-groups --group peers python tools/benchmark --help`.

The libraries take turns in one process, on the same workload: `jit` of a `scan` over `vmap` of the environment, with
random actions and auto-reset. The loop stores all observations of a step, and the next iteration reads one column of
them, a different one each time. Observations are read in their dtype, and as float32, which networks read. Speeds are
medians in million environment steps per second. `ratio` is the speedup over gymnax, and `compile` the seconds to trace
and compile.

Other options measure something else:

--gpu        on a GPU: three batch sizes, rollouts of `run_rollout` and envcore-native, and training
--gymnasium  the Gymnasium adapter compared with Gymnasium, EnvPool and Stable-Baselines3, if they are installed
--bridges    bridged environments compared with the libraries' loops (ids such as `brax/ant`)
--to-result  CPU seconds on one core until PPO of envcore, PureJaxRL and rejax reaches a return
--waiting    CPU seconds on one core from `make` to a first step, rollout and PPO update, without and with a cache

`--gymnasium` and `--bridges` need the default environment: `uv run python tools/benchmark --gymnasium`.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import measure
import results
import waiting
from workloads import ROLLOUT_STEPS, SUITES, VARIANTS, has

_CPU = ("memory floor", "gymnax", "pgx", "envcore, same loop", "envcore", "envcore rollout")
_KINDS = ("gpu", "gymnasium", "bridges", "to-result", "waiting")
_CPU_INFO = Path("/proc/cpuinfo")
_GPU_STEPS = {2_048: 2_000, 65_536: 500, 1_048_576: 50}
_ON_GPU = (
    *("CartPole-v1", "Pendulum-v1", "Acrobot-v1", "Catch-bsuite", "DeepSea-bsuite", "UmbrellaChain-bsuite"),
    *("FourRooms-misc", "PointRobot-misc", "Reacher-misc", "Breakout-MinAtar", "Freeway-MinAtar"),
    *("SpaceInvaders-MinAtar", "Asterix-MinAtar", "Seaquest-MinAtar"),
)
_KEEPING = ("CartPole-v1", "Catch-bsuite", "Breakout-MinAtar", "Seaquest-MinAtar")


def main() -> None:
    """Parses the command line, measures, prints a table, and writes it to `--out`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", help="environments, our suites, or goals of --to-result (default: all)")
    kinds = parser.add_mutually_exclusive_group()
    for kind in _KINDS:
        kinds.add_argument(f"--{kind}", dest="kind", action="store_const", const=kind)
    parser.add_argument("--num-envs", nargs="+", type=int, default=[2048], help="batch sizes (default: 2048)")
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS), help=f"programs (default: {', '.join(_CPU)})")
    parser.add_argument(
        "--steps", type=int, help="steps of each environment (default: a million in total, 100 with --bridges)"
    )
    parser.add_argument("--repeats", type=int, default=7, help="timed runs of each program (default: 7)")
    parser.add_argument("--out", type=Path, help="a JSON file, in which new rows replace older ones")
    args = parser.parse_args()
    found: list[dict[str, Any]] = []
    try:
        for line in measure.markdown(_kept(rows(args), found)):
            print(line, flush=True)
    finally:
        if args.out and found:
            write(args.out, found)


def rows(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Measures and yields rows."""
    given = [env_id for name in args.ids for env_id in SUITES.get(name, (name,))]
    ids = given or [env_id for suite in SUITES.values() for env_id in suite]
    match args.kind:
        case "gpu":
            yield from _gpu(given or _ON_GPU, args.repeats)
        case "gymnasium":
            import adapters  # Gymnasium is not in the peers' environment

            yield from adapters.measure_all(given or adapters.ENVIRONMENTS, args.repeats)
        case "bridges":
            import bridges  # these libraries are not in the peers' environment

            for num_envs in args.num_envs:
                yield from bridges.measure_all(given or bridges.ENVIRONMENTS, num_envs, args.steps or 100, args.repeats)
        case "to-result":
            yield from results.measure_all(args.ids)
        case "waiting":
            yield from waiting.measure_all(ids, args.repeats)
        case _:
            for env_id in ids:
                variants = [variant for variant in args.variants or _CPU if has(variant, env_id)]
                for num_envs in args.num_envs:
                    steps = args.steps or max(50, 1_000_000 // num_envs)
                    yield from measure.speeds(env_id, num_envs, steps, variants, args.repeats)


def _gpu(ids: Iterable[str], repeats: int) -> Iterator[dict[str, Any]]:
    """Measures all environments at three batch sizes on a GPU, and stored rollouts and training for a few of them."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # PPO and a million environments share the memory
    for env_id in ids:
        for num_envs, steps in _GPU_STEPS.items():
            stored = [variant for variant in VARIANTS if "stored" in variant or "rewards" in variant]
            variants = ["gymnax", "envcore, Batched", *(stored if env_id in _KEEPING else ())]
            chosen = [variant for variant in variants if has(variant, env_id)]
            yield from measure.speeds(env_id, num_envs, steps, chosen, repeats, is_gpu=True)
        if env_id in _KEEPING:
            training = [variant for variant in VARIANTS if "PPO" in variant and has(variant, env_id)]
            yield from measure.speeds(env_id, min(_GPU_STEPS), 4 * ROLLOUT_STEPS, training, repeats, is_gpu=True)


def write(path: Path, found: Iterable[dict[str, Any]]) -> None:
    """Adds rows with their date, machine and JAX version to a file. They replace older rows of the same program."""
    import jax

    device = jax.devices()[0]
    model = re.search("model name\\s*: (.*)", _CPU_INFO.read_text() if _CPU_INFO.exists() else "")
    machine = device.device_kind if device.platform != "cpu" else model[1] if model else platform.processor()
    about = {"jax": jax.__version__, "date": datetime.date.today().isoformat(), "machine": machine}
    kept = {_program(row): row for row in (json.loads(path.read_text()) if path.exists() else [])}
    kept |= {_program(row): row | about for row in found}
    path.write_text("[\n " + ",\n ".join(map(json.dumps, kept.values())) + "\n]\n")


def _program(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in ("id", "num_envs", "variant", "reads"))


def _kept(rows: Iterable[dict[str, Any]], found: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        found.append(row)
        yield row


if __name__ == "__main__":
    main()
