"""The benchmark: what its loops compute and store, and a run of each kind that needs no other machine."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import envcore
import jax
import numpy as np
import pytest
from tool_modules import TOOLS

NUM_ENVS, NUM_STEPS = 3, 5
KEY = jax.random.PRNGKey(3)


@pytest.fixture
def workloads(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(TOOLS / "benchmark"))
    return importlib.import_module("workloads")


def played_by_hand(env_id: str) -> float:
    """The rewards of gymnax's loop, and column `number` of the observations before step `number`."""
    env: Any
    env, params = envcore.make(env_id)
    reset, step = jax.vmap(env.reset, (0, None)), jax.vmap(env.step, (0, 0, 0, None))
    key, key_reset = jax.random.split(KEY, 2)
    obs, state = reset(jax.random.split(key_reset, NUM_ENVS), params)
    total = 0.0
    for number in range(NUM_STEPS):
        flat = np.asarray(obs, np.float32).reshape(NUM_ENVS, -1)
        total += flat[:, number % flat.shape[1]].sum()
        key, key_act, key_step = jax.random.split(key, 3)
        action = jax.random.randint(key_act, (NUM_ENVS,), 0, env.action_space(params).n)
        obs, state, reward = step(jax.random.split(key_step, NUM_ENVS), state, action, params)[:3]
        total += float(reward.sum())
    return total


@pytest.mark.parametrize("reading", ["own", "float32"])
@pytest.mark.parametrize(
    "env_id",
    ["CartPole-v1", *(pytest.param(each, marks=pytest.mark.slow) for each in ("FrozenLake-misc", "Seaquest-MinAtar"))],
)
def test_the_loop_reads_another_column_in_each_step(workloads: Any, env_id: str, reading: str) -> None:
    run = workloads.envcore_same_loop(env_id, NUM_ENVS, NUM_STEPS, reading)
    assert float(jax.jit(run)(KEY)) == pytest.approx(played_by_hand(env_id), rel=1e-5)


def instructions_of_loops(program: str) -> list[str]:
    """The arrays that `while` bodies of a compiled program and their callees store, but not those inside fusions."""
    computations = {}
    for part in program.split("\n}\n"):
        found = re.search(r"^(?:ENTRY )?%(\S+) \(.*\{$", part, flags=re.MULTILINE)
        if found:
            computations[found[1]] = part[found.end() :].splitlines()
    inside, left = set(), re.findall(r"body=%([\w.-]+)", program)
    while left:
        name = left.pop()
        if name not in inside:
            inside.add(name)
            left += re.findall(r"(?:to_apply|body)=%([\w.-]+)", "\n".join(computations[name]))
    return [line for name in inside for line in computations[name] if " = " in line]


@pytest.mark.slow
@pytest.mark.parametrize("reading", ["own", "float32"])
@pytest.mark.parametrize("builder", ["memory_floor", "envcore_same_loop", "envcore_vmap", "envcore_rollout"])
def test_every_step_stores_the_whole_observation(workloads: Any, builder: str, reading: str) -> None:
    """The compiled loop stores floats for all cells in one reading, and none in the other."""
    run = getattr(workloads, builder)("Breakout-MinAtar", NUM_ENVS, NUM_STEPS, reading)
    inside = instructions_of_loops(str(jax.jit(run).lower(KEY).compile().as_text()))
    written = [line for line in inside if re.search(r" (convert|fusion|compare|broadcast|call|bitcast)\(", line)]
    floats, bools = (
        any(f" = {dtype}[{NUM_ENVS},{shape}]" in line for line in written for shape in ("400", "10,10,4"))
        for dtype in ("f32", "pred")
    )
    assert floats if reading == "float32" else bools and not floats


@pytest.mark.parametrize("reading", ["own", "float32"])
def test_the_floor_writes_new_numbers_in_each_step(workloads: Any, reading: str) -> None:
    run = workloads.memory_floor("Breakout-MinAtar", NUM_ENVS, NUM_STEPS, reading)
    # Zeros at first, then whether the sum of the environment's number and the step's is odd.
    expected = sum((env + step) % 2 for step in range(1, NUM_STEPS) for env in range(NUM_ENVS))
    assert float(jax.jit(run)(KEY)) == expected


def benchmark(*arguments: str | Path) -> list[str]:
    """The lines of the table that a run prints."""
    command = [sys.executable, TOOLS / "benchmark", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


SMALL = ("--num-envs", "8", "--steps", "16", "--repeats", "1")


def test_rows_take_the_place_of_older_ones(tmp_path: Path) -> None:
    out = tmp_path / "rows.json"
    run = ("CartPole-v1", "--variants", "envcore rollout", *SMALL, "--out", out)
    lines = [benchmark(*run) for _ in range(2)][1]
    assert lines[0] == "| id | num_envs | variant | reads | speed | ratio | compile |"
    assert lines[2].startswith("| CartPole-v1 | 8 | envcore rollout | float32 | ")
    (row,) = json.loads(out.read_text())
    assert row["speed"] > 0
    assert {"jax", "date", "machine"} <= set(row)


@pytest.mark.slow
def test_training_and_native_rollouts() -> None:
    variants = ("envcore + PPO", "envcore + its PPO", "transitions stored, network", "rewards only, native")
    lines = benchmark("CartPole-v1", "--variants", *variants, *SMALL)
    assert [line.split(" | ")[2] for line in lines[2:]] == list(variants)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "ids", "rows"), [("bridges", ["pgx/2048"], 2), ("gymnasium", ["Acrobot-v1"], 8)])
def test_other_kinds(kind: str, ids: list[str], rows: int) -> None:
    assert len(benchmark(f"--{kind}", *ids, *SMALL)) == 2 + rows


@pytest.mark.slow
@pytest.mark.long
def test_cached_programs_are_loaded(workloads: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("measure"), "_compile_modules", lambda: None)  # takes minutes
    waiting = importlib.import_module("waiting")
    monkeypatch.setattr(waiting, "has_gymnax", lambda env_id: False)
    (row,) = waiting.measure_all(["Catch-bsuite"], runs=1)
    assert row["step"][1] < row["step"][0]
