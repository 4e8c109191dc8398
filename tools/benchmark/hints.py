"""What the performance hints in the rules gain: each environment as it is, and with its hints replaced by nothing.

A hint is a call of `compute_once` or `recomputed` in a module of an environment's distribution, or
the polynomials of `trig` in place of XLA's sine and cosine.
Observations are read in three ways, as float32: summed, by a dense layer, and by a convolution where they are boards.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import itertools
import pkgutil
import statistics
import sys
import time
from collections.abc import Callable, Generator, Iterable
from types import SimpleNamespace
from typing import Any
from unittest import mock

import envcore
import jax
import jax.numpy as jnp
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched

NOTHING: dict[str, dict[str, Any]] = {
    "boundaries": {
        "compute_once": lambda fun, *args, **_: fun(*args),
        "recomputed": lambda bools, number: bools,
    },
    "trig": {"trig": SimpleNamespace(sin=jnp.sin, cos=jnp.cos)},
}
READERS = ("sum", "dense", "convolution")
_UNITS = 16


def measure_all(
    ids: Iterable[str], num_envs: int, num_steps: int, repeats: int, show: Callable[[dict[str, Any]], None]
) -> list[dict[str, Any]]:
    """One row per environment with hints and reader: the median times of a step, in ns, with and without the hints."""
    rows: list[dict[str, Any]] = []
    for env_id in ids:
        package = type(envcore.make(env_id)[0]).__module__.partition(".")[0]
        for hints, reader in itertools.product(NOTHING, READERS):
            if not hinted(package, hints):
                continue
            with_hints = _program(env_id, num_envs, num_steps, reader)
            with without_hints(package, hints):
                without = _program(env_id, num_envs, num_steps, reader)
            if with_hints is None or without is None:
                continue
            seconds: dict[str, list[float]] = {"with": [], "without": []}
            for _ in range(repeats):
                for name, run in (("with", with_hints), ("without", without)):
                    started = time.perf_counter()
                    jax.block_until_ready(run(jax.random.key(0)))
                    seconds[name].append(time.perf_counter() - started)
            steps = num_envs * num_steps / 1e9
            medians = {name: statistics.median(each) / steps for name, each in seconds.items()}
            row = {"id": env_id, "hints": hints, "reader": reader, **medians}
            rows.append(row)
            show(row)
    return rows


def hinted(package: str, hints: str) -> list[Any]:
    """The modules of a package that have hints of a kind, all imported."""
    root = importlib.import_module(package)
    for found in pkgutil.walk_packages(root.__path__, f"{package}."):
        if not {"render", "analysis", "commands"} & set(found.name.split(".")):
            importlib.import_module(found.name)
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == package]
    return [module for module in modules if NOTHING[hints].keys() & vars(module).keys()]


@contextlib.contextmanager
def without_hints(package: str, hints: str) -> Generator[None]:
    """A context in which the hints of a kind in the modules of a package are nothing."""
    with contextlib.ExitStack() as stack:
        for module in hinted(package, hints):
            found = {name: plain for name, plain in NOTHING[hints].items() if name in vars(module)}
            stack.enter_context(mock.patch.multiple(module, **found))
        yield


def _program(env_id: str, num_envs: int, num_steps: int, reader: str) -> Any:
    """A compiled rollout that reads every observation; None where the reader does not fit."""
    jax.clear_caches()  # of what was traced with other hints
    env, params = envcore.make(env_id)
    batch = Batched(env, num_envs)
    obs = jax.eval_shape(lambda: batch.reset(jax.random.key(0), params)[0])
    if not hasattr(obs, "shape") or (reader == "convolution" and len(obs.shape) != 4):
        return None

    def run(key: jax.Array) -> jax.Array:
        read = functools.partial(_read, reader)
        start = start_rollout(batch, key, params)
        policy = random_policy(batch, params)

        def collect(step: Any) -> jax.Array:
            return read(step.obs) + step.reward.sum()

        return run_rollout(batch, policy, start, num_steps, params, collect=collect)[1].sum()

    compiled = jax.jit(run).lower(jax.random.key(0)).compile()
    jax.block_until_ready(compiled(jax.random.key(0)))
    return compiled


def _read(reader: str, obs: jax.Array) -> jax.Array:
    values = obs.astype(jnp.float32)
    if reader == "sum":
        return values.sum()
    if reader == "dense":
        flat = values.reshape(len(values), -1)
        return jax.nn.relu(flat @ jnp.full((flat.shape[1], _UNITS), 0.01)).sum()
    kernel = jnp.full((3, 3, values.shape[-1], _UNITS), 0.01)
    layout = ("NHWC", "HWIO", "NHWC")
    return jax.nn.relu(jax.lax.conv_general_dilated(values, kernel, (1, 1), "VALID", dimension_numbers=layout)).sum()


def markdown(results: list[dict[str, Any]], header: bool) -> str:
    """The rows as a table."""
    rows = [("environment", "hints", "reader", "ns with", "ns without", "gain"), ("---",) * 6] if header else []
    for row in results:
        times = f"{row['with']:.1f}", f"{row['without']:.1f}", f"{row['without'] / row['with']:.2f}"
        rows.append((row["id"], row["hints"], row["reader"], *times))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
