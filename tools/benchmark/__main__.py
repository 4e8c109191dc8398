"""Compares envcore with gymnax and pgx: `uv run --no-default-groups --group peers python tools/benchmark --help`.

The libraries run in one process, alternating, on the same workload: `jit` of a `scan` over `vmap` of the environment,
random actions drawn inside, auto-reset. All observations of a step are stored, and the next iteration reads one column
of them, a different one each time: in their own dtype, and as float32, which networks read. It reports medians, their
ratio, the time as a multiple of the memory floor's (a loop that only writes and carries as many numbers), and the time
to trace and compile.

With `--cores N` it compares envcore's rollouts on one core with those on N cores, as one device and as N devices.

With `--before CHECKOUT` it compares this checkout with another one of envcore instead, in two processes that take
turns. Both need the same environment: `uv sync --no-default-groups --group peers` in each.

With `--gymnasium` it compares CartPole behind Gymnasium's interface with Gymnasium's own, in the default environment
(`uv run python tools/benchmark --gymnasium`); Stable-Baselines3's PPO too, where the group `clients` is installed.

With `--bridges` it compares other libraries' environments through envcore with the loops of those libraries, in the
default environment; ids are those of the bridges, such as `brax/ant`.

With `--gpu` it writes one table of what bounds a GPU: microseconds and kernels per step of a batch, for every suite at
three numbers of environments, and with XLA's command buffers, unrolling and other ways to make a step cheaper.

With `--gpu-programs` it compiles these loops, the rollouts and PPO for a GPU that need not be there, and counts the
kernels, bytes and memory of an iteration:
`uv run --no-default-groups --group peers --group gpu-compiler python tools/benchmark --gpu-programs`.
The rows are kept in the folder of `--out`, where a second run goes on; ids that are named are compiled again.

With `--to-result` it measures how long PPO and other programs take until an agent earns what it should: seconds of one
core from the start of Python, compilation included, beside PureJaxRL's PPO and rejax'.

With `--hints` it measures what the performance hints in the rules gain, for three readers of observations.

With `--waiting` it measures how long users wait for a first result of a step, a rollout and an update of PPO: seconds
of one core from `make`, without and with a cache of compiled programs.
"""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gpu
import hints
import jax
import programs
import report
import results as time_to_result
import scaling
import versions
import waiting
from measure import measure
from workloads import SUITES, VARIANTS, has


def main() -> None:
    """Parses the command line, measures and reports."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", default=[], help=f"environments or suites (default: {', '.join(SUITES)})")
    parser.add_argument(
        "--num-envs", nargs="+", type=int, help="per device (default: 1, 128, 2048 and 16384; with --bridges 2048)"
    )
    parser.add_argument(
        "--variants",
        nargs="+",
        choices=list(VARIANTS),
        default=[name for name in VARIANTS if "PPO" not in name],
        help="programs (default: all but those that train, which take a hundred times as long)",
    )
    parser.add_argument(
        "--steps", type=int, help="steps of each environment (default: two million in total, at least 50)"
    )
    parser.add_argument("--repeats", type=int, default=7, help="timed runs of each program")
    parser.add_argument("--compiles", type=int, default=1, help="timed compilations of each program")
    parser.add_argument("--devices", type=int, default=1, help="run on this number of devices with pmap")
    parser.add_argument("--cores", type=int, metavar="N", help="compare one core with this number of cores")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="compare with this checkout of envcore")
    parser.add_argument("--out", type=Path, default=Path("bench-results"), help="folder for results.json and .md")
    parser.add_argument("--gpu", action="store_true", help="measure what bounds a GPU, and nothing else")
    parser.add_argument(
        "--gpu-programs",
        choices=("h100", "h200", "a100"),
        nargs="?",
        const="h100",
        metavar="GPU",
        help="compile for this GPU (default: h100), and nothing else",
    )
    parser.add_argument(
        "--to-result",
        choices=list(time_to_result.GOALS),
        nargs="*",
        metavar="GOAL",
        help=f"measure the time to these goals (default: all: {', '.join(time_to_result.GOALS)}), and nothing else",
    )
    parser.add_argument("--hints", action="store_true", help="measure the hints in the rules, and nothing else")
    parser.add_argument("--waiting", action="store_true", help="measure the time to first results, and nothing else")
    parser.add_argument("--gymnasium", action="store_true", help="compare with Gymnasium, and nothing else")
    parser.add_argument("--bridges", action="store_true", help="compare with other libraries' loops, and nothing else")
    parser.add_argument("--trial", action="store_true", help="with --gpu: only try its programs, on any device")
    parser.add_argument("--limit", type=float, default=430, help="with --gpu: seconds for all programs")
    args = parser.parse_args()
    if args.trial and not args.gpu:
        parser.error("--trial needs --gpu")
    args.out.mkdir(parents=True, exist_ok=True)
    if args.gpu:
        results, _ = gpu.measure_all(args.limit, args.trial)
        _write(args.out, results, gpu.markdown)
        return
    if args.gpu_programs:
        results = programs.compile_all(args.out / "results.json", args.ids, args.gpu_programs)
        _write(args.out, results, programs.markdown)
        return
    if args.to_result is not None:
        results = time_to_result.measure_all(args.to_result, _printer(time_to_result.markdown))
        _write(args.out, results, time_to_result.markdown)
        return
    if args.hints:
        ids = _ids(args.ids) if args.ids else programs.environments()[len(programs.NOTHING) :]
        num_envs = (args.num_envs or [2048])[0]
        steps = args.steps or 200
        results = hints.measure_all(ids, num_envs, steps, args.repeats, _printer(hints.markdown))
        _write(args.out, results, hints.markdown)
        return
    if args.waiting:
        ids = _ids(args.ids) if args.ids else programs.environments()[len(programs.NOTHING) :]
        results = waiting.measure_all(ids, args.compiles, _printer(waiting.markdown))
        _write(args.out, results, waiting.markdown)
        return
    if args.gymnasium:
        import adapters  # Gymnasium is not in the peers' environment

        results = adapters.measure_all(args.repeats)
        print(adapters.markdown(results, header=True))
        _write(args.out, results, adapters.markdown)
        return
    if args.bridges:
        import bridges  # these libraries are not in the peers' environment

        results = []
        for num_envs in args.num_envs or [2048]:
            results += bridges.measure_all(args.ids or bridges.ENVIRONMENTS, num_envs, args.steps or 100, args.repeats)
        _write(args.out, results, bridges.markdown)
        return
    if args.before and (args.devices > 1 or not (args.before / ".venv/bin/python").exists()):
        parser.error("--before needs a checkout with a `.venv`, and one device")
    if args.devices > jax.local_device_count():
        parser.error(f"--devices {args.devices}, but JAX has {jax.local_device_count()}")

    if args.cores:
        run, variants, markdown = functools.partial(scaling.scale, args.cores), args.variants, scaling.markdown
    elif args.before:
        run = functools.partial(versions.compare, args.before.resolve())
        variants, markdown = [variant for variant in args.variants if variant.startswith("envcore")], versions.markdown
    else:
        run, variants, markdown = functools.partial(measure, devices=args.devices), args.variants, report.markdown

    results = []
    for env_id in _ids(args.ids):
        present = [variant for variant in variants if has(variant, env_id)]
        for num_envs in args.num_envs or [1, 128, 2048, 16384]:
            num_steps = args.steps or max(50, min(20_000, 2_000_000 // num_envs))
            found = run(env_id, num_envs, num_steps, present, args.repeats, args.compiles)
            results += found
            print(markdown(found, header=len(results) == len(found)), flush=True)
    _write(args.out, results, markdown)


def _ids(names: list[str]) -> list[str]:
    """Environments, of suites where these are named; of all without a name."""
    return [env_id for name in names or SUITES for env_id in SUITES.get(name, (name,))]


def _printer(markdown: Callable[..., str]) -> Callable[[dict[str, Any]], None]:
    """Prints each row as it comes."""
    return lambda row: print(markdown([row], header=False), flush=True)


def _write(folder: Path, results: list[dict[str, Any]], markdown: Callable[..., str]) -> None:
    (folder / "results.json").write_text(json.dumps(results, indent=1))
    (folder / "results.md").write_text(markdown(results, header=True) + "\n")


if __name__ == "__main__":
    main()
