"""Measures what a GPU is bound by: kernels and microseconds per iteration of a scan of steps.

Every environment of `IDS` at each number of environments, beside gymnax where that is installed; `run_rollout` with
what it stores, and envcore-native's where Warp is installed; training with PPO; and, at the smallest number, what could
make an iteration cheaper: XLA's command buffers, unrolling, a packed carry, the fusion boundary that is there for CPUs,
and types of keys. All programs are compiled first, several at a time, and then run one by one. What does not fit into
the time is left out and named.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import envcore
import jax
import jax.numpy as jnp
from envcore import random
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched
from jax import lax
from kernels import iteration_of
from report import table
from training import ROLLOUT_STEPS, training
from workloads import FLOAT32, VARIANTS, carried, network_policy, seen

IDS = (
    "CartPole-v1",
    "Pendulum-v1",
    "Acrobot-v1",
    "Catch-bsuite",
    "DeepSea-bsuite",
    "UmbrellaChain-bsuite",
    "FourRooms-misc",
    "PointRobot-misc",
    "Reacher-misc",
    "Breakout-MinAtar",
    "Freeway-MinAtar",
    "SpaceInvaders-MinAtar",
    "Asterix-MinAtar",
    "Seaquest-MinAtar",
)
"""Of every suite a few, from light to heavy."""

STEPS = {2_048: 2_000, 65_536: 500, 1_048_576: 50}
"""Iterations of the scan by number of environments."""

KEEPING = ("CartPole-v1", "Catch-bsuite", "Breakout-MinAtar", "Seaquest-MinAtar")
"""Environments whose `run_rollout` is measured: with rewards only, with all transitions stored, and with a network."""

TRAINED = ("CartPole-v1", "Breakout-MinAtar", "Seaquest-MinAtar")
"""Environments in which PPO is measured, with the smallest number of environments."""

CLOSER = ("CartPole-v1", "Breakout-MinAtar")
"""Environments whose iterations are looked at more closely."""

COPIED = ("DeepSea-bsuite", "SpaceInvaders-MinAtar")
"""Environments of whose states XLA copies a part in each iteration, unless the loop has two buffers."""

REWARDS, TRANSITIONS, NETWORK = "rewards only", "transitions stored", "transitions stored, network"
_COLLECT: dict[str, Callable[[Any], Any]] = {
    REWARDS: lambda step: step.reward,
    **dict.fromkeys((TRANSITIONS, NETWORK), lambda step: (step.obs, step.action, step.reward, step.done)),
}
_PPO = ("gymnax + PPO", "envcore + PPO", "envcore + its PPO")
_UPDATES = 4  # of PPO in a program
_FEW_STEPS = 2
_SLOW_TO_COMPILE = ("Seaquest-MinAtar",)  # gymnax's, whose 142 kernels take minutes
_TOGETHER = max(1, (os.cpu_count() or 1) - 2)  # programs compiled at a time
_REPEATS = 5
_ENOUGH = 2.0  # seconds of runs of one program
_COLUMNS = ("id", "environments", "program", "M steps/s", "us / iteration", "kernels", "ms / 1 M steps", "compile s")
_COMMANDS = "FUSION,CUBLAS,CUDNN,CUSTOM_CALL,DYNAMIC_SLICE_FUSION,CONDITIONAL"


@dataclasses.dataclass(frozen=True)
class Case:
    """One program.

    Attributes:
      env_id: what `make` takes.
      num_envs: number of environments.
      label: "gymnax" is gymnax's loop, those of `_COLLECT` are `run_rollout`, those of `_PPO` training, and all others
        a loop that steps a batch.
      is_fused: whether envcore-native plays the rollouts.
      unroll: steps in one iteration of the compiled loop.
      is_packed: whether the loop carries all 32-bit arrays of the state in one.
      boundary: whether `compute_once` is a boundary on this platform too; None for what the library does.
      key_type: of the random keys.
      flags: of XLA; such a program runs in a process of its own.
    """

    env_id: str
    num_envs: int
    label: str
    is_fused: bool = False
    unroll: int = 1
    is_packed: bool = False
    boundary: bool | None = None
    key_type: str = "threefry2x32"
    flags: str = ""

    @property
    def program(self) -> str:
        """What the table calls it."""
        return f"{self.label}, fused" if self.is_fused else self.label


def cases(steps: Iterable[int] = STEPS) -> list[Case]:
    """All programs; those with flags last, because each takes a process."""
    both = ("gymnax", "envcore") if importlib.util.find_spec("gymnax") else ("envcore",)
    found = [Case(env_id, num_envs, label) for num_envs in steps for env_id in IDS for label in both]
    kinds = (False, True) if importlib.util.find_spec("warp") else (False,)
    found += [
        Case(env_id, num_envs, label, is_fused)
        for num_envs in steps
        for env_id in KEEPING
        for label in _COLLECT
        for is_fused in (kinds if label != NETWORK else (False,))  # the kernel has no large networks
    ]
    for env_id in TRAINED:
        programs = _PPO if "gymnax" in both and env_id not in _SLOW_TO_COMPILE else _PPO[1:]
        found += [Case(env_id, min(steps), label) for label in programs]
    for env_id in CLOSER:
        case = Case(env_id, min(steps), "")
        changes: list[tuple[str, dict[str, Any]]] = [
            ("no command buffers", {"flags": "--xla_gpu_enable_command_buffer="}),
            ("command buffers", {"flags": f"--xla_gpu_enable_command_buffer={_COMMANDS}"}),
            ("command buffers with WHILE", {"flags": f"--xla_gpu_enable_command_buffer={_COMMANDS},WHILE"}),
            *((f"unroll {number}", {"unroll": number}) for number in (2, 4, 8)),
            ("packed carry", {"is_packed": True}),
            ("packed carry, unroll 4", {"is_packed": True, "unroll": 4}),
            ("fusion boundaries", {"boundary": True}),
            ("no fusion boundaries", {"boundary": False}),
            ("rbg keys", {"key_type": "rbg"}),
        ]
        found += [dataclasses.replace(case, label=label, **change) for label, change in changes]
    two_buffers = "--xla_gpu_enable_while_loop_double_buffering=true"
    found += [Case(env_id, min(steps), "double buffering", flags=two_buffers) for env_id in COPIED]
    return sorted(found, key=lambda case: bool(case.flags))


def measure_all(limit: float, is_trial: bool = False) -> tuple[list[dict[str, Any]], list[str]]:
    """Measures as many programs as fit into the time, and prints their rows.

    Args:
      limit: seconds.
      is_trial: measures every kind of program for a few steps of a few environments, on any device.

    Returns:
      The rows, and what was left out or has failed.

    Raises:
      SystemExit: there is no GPU.
    """
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the programs with flags have their own process
    if not is_trial and jax.default_backend() != "gpu":
        sys.exit(f"--gpu needs a GPU; JAX has {jax.devices()[0].device_kind}. --trial only tries the programs.")
    started, rows, without = time.monotonic(), list[dict[str, Any]](), list[str]()
    chosen = cases((8,) if is_trial else STEPS)
    steps = {case: _steps(case, is_trial) for case in chosen}
    with ThreadPoolExecutor(_TOGETHER) as pool:
        # Flags and boundaries change the process; Warp's kernels are compiled where they are called.
        kernels = [pool.submit(_in_process, case, _FEW_STEPS) for case in chosen if case.is_fused]
        apart = [case for case in chosen if not case.flags and case.boundary is None]
        compiling = {case: pool.submit(_compile, case, steps[case]) for case in apart}
        pending: list[Future[Any]] = [*kernels, *compiling.values()]
        wait(pending, limit * 0.6)
        pool.shutdown(wait=False, cancel_futures=True)
    print(f"compiled after {time.monotonic() - started:.0f} s", flush=True)
    for case in chosen:
        name = f"{case.env_id}, {case.num_envs:,}, {case.program}"
        if time.monotonic() - started > limit or (case in compiling and compiling[case].cancelled()):
            without.append(f"{name}: no time")
            continue
        try:
            if case.flags:
                rows.append(_in_process(case, steps[case]))
            else:
                program = compiling[case].result() if case in compiling else _compile(case, steps[case])
                rows.append(_run(case, steps[case], *program))
        except Exception as error:  # out of memory, an unknown flag
            reason = (str(error).strip().splitlines() or ["no message"])[-1]
            without.append(f"{name}: {type(error).__name__}: {reason}")
            continue
        print(markdown(rows[-1:], header=len(rows) == 1), flush=True)
    print(f"{time.monotonic() - started:.0f} s; left out: {len(without)}", *without, sep="\n", flush=True)
    return rows, without


def _steps(case: Case, is_trial: bool) -> int:
    if is_trial:
        return 16
    return _UPDATES * ROLLOUT_STEPS if case.label in _PPO else STEPS[case.num_envs]


def measure(case: Case, steps: int) -> dict[str, Any]:
    """Compiles and runs a program: its medians, and the kernels of its loop."""
    return _run(case, steps, *_compile(case, steps))


def _compile(case: Case, steps: int) -> tuple[Any, float]:
    if case.boundary is not None:
        jax.clear_caches()  # of what was traced without that boundary
    started = time.perf_counter()
    with _boundary(case.boundary):
        program = jax.jit(program_of(case, steps)).lower(jax.random.key(0, impl=case.key_type)).compile()
    return program, time.perf_counter() - started


def _run(case: Case, steps: int, program: Any, compile_seconds: float) -> dict[str, Any]:
    key, seconds = jax.random.key(0, impl=case.key_type), list[float]()
    if case.is_fused:
        jax.block_until_ready(program(key))  # Warp compiles at the first call
    while len(seconds) <= _REPEATS and sum(seconds) < _ENOUGH:
        started = time.perf_counter()
        jax.block_until_ready(program(key))
        seconds.append(time.perf_counter() - started)
    seconds = seconds[1:] or seconds  # the first run is a warm-up, unless it alone takes long enough
    median = statistics.median(seconds)
    return {
        **dataclasses.asdict(case),
        "program": case.program,
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
        "steps": steps,
        "steps_per_second": case.num_envs * steps / median,
        "us_per_iteration": median / steps * 1e6,
        "kernels": (found := iteration_of(str(program.as_text()), steps)) and found.kernels,
        "compile_seconds": compile_seconds,
        "seconds": seconds,
    }


def markdown(rows: list[dict[str, Any]], header: bool) -> str:
    """Formats one line per row, with an optional header."""
    cells = [
        (
            row["env_id"],
            f"{row['num_envs']:,}",
            row["program"],
            f"{row['steps_per_second'] / 1e6:.4g}",
            f"{row['us_per_iteration']:.3g}",
            "" if row["kernels"] is None else f"{row['kernels']:g}",
            f"{1e9 / row['steps_per_second']:.3g}",
            f"{row['compile_seconds']:.1f}",
        )
        for row in rows
    ]
    return table(_COLUMNS, cells, header)


def program_of(case: Case, steps: int) -> Callable[[jax.Array], Any]:
    """The function of a key that is measured."""
    rollout = run_rollout
    if case.is_fused:
        import envcore_native

        rollout = envcore_native.run_rollout
    if case.label == _PPO[-1]:
        return training("envcore", case.env_id, case.num_envs, steps, rollout)
    if case.label in ("gymnax", *_PPO):
        return VARIANTS[case.label](case.env_id, case.num_envs, steps, FLOAT32)
    env, params = envcore.make(case.env_id)
    batch = Batched(env, case.num_envs)
    policy = network_policy(case.env_id) if case.label == NETWORK else random_policy(batch, params)
    if case.label in _COLLECT:
        collect = _COLLECT[case.label]
        start = functools.partial(start_rollout, batch, params=params)
        return lambda key: rollout(batch, policy, start(key), steps, params, collect=collect)[1]

    def run(key: jax.Array) -> jax.Array:
        key, key_reset = random.spawn(key, 2)
        obs, state = batch.reset(key_reset, params)
        pack, unpack = _packing(state) if case.is_packed else (lambda x: x, lambda x: x)

        # XLA would compute only the column of an observation that is read, were it not carried to the next iteration.
        def body(carry: Any, number: jax.Array) -> tuple[Any, jax.Array]:
            key, obs, state = carry
            total = seen(obs, number, FLOAT32)
            key, key_act, key_step = random.spawn(key, 3)
            action = policy(None, obs, key_act)
            obs, state, reward = batch.step(key_step, unpack(state), action, params)[:3]
            return (key, carried(obs, FLOAT32), pack(state)), total + reward.sum()

        start = key, carried(obs, FLOAT32), pack(state)
        return lax.scan(body, start, jnp.arange(steps, dtype=jnp.int32), unroll=case.unroll)[1].sum()

    return run


def _packing(like: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Functions that put all vectors of 32-bit numbers of a pytree into one matrix, and take them out again."""
    leaves, structure = jax.tree.flatten(like)
    is_vector = [
        not jnp.issubdtype(x.dtype, jax.dtypes.prng_key) and x.ndim == 1 and x.dtype.itemsize == 4 for x in leaves
    ]

    def pack(tree: Any) -> tuple[jax.Array, list[Any]]:
        found = jax.tree.leaves(tree)
        vectors = [lax.bitcast_convert_type(x, jnp.uint32) for x, i in zip(found, is_vector, strict=True) if i]
        return jnp.stack(vectors), [x for x, i in zip(found, is_vector, strict=True) if not i]

    def unpack(packed: tuple[jax.Array, list[Any]]) -> Any:
        rows, others = iter(packed[0]), iter(packed[1])
        found = [
            lax.bitcast_convert_type(next(rows), x.dtype) if i else next(others)
            for x, i in zip(leaves, is_vector, strict=True)
        ]
        return jax.tree.unflatten(structure, found)

    return pack, unpack


def _boundary(is_on: bool | None) -> contextlib.AbstractContextManager[Any]:
    """Makes `compute_once` a fusion boundary on every platform, or on none."""

    def choose(*args: Any, cpu: Callable[..., Any], default: Callable[..., Any]) -> Any:
        return (cpu if is_on else default)(*args)

    if is_on is None:
        return contextlib.nullcontext()
    return mock.patch("envcore.fusion.lax", SimpleNamespace(platform_dependent=choose))


def _in_process(case: Case, steps: int) -> dict[str, Any]:
    """Measures a program in a process with its flags of XLA."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} {case.flags}".strip()
    command = [sys.executable, str(Path(__file__)), json.dumps(dataclasses.asdict(case)), str(steps)]
    found = subprocess.run(
        command, env={**os.environ, "XLA_FLAGS": flags}, capture_output=True, text=True, timeout=60, check=False
    )
    if found.returncode:
        raise RuntimeError(found.stderr or f"ended with status {found.returncode}")
    return json.loads(found.stdout.splitlines()[-1])


if __name__ == "__main__":
    print(json.dumps(measure(Case(**json.loads(sys.argv[1])), int(sys.argv[2]))))
