"""A run of each kind of the benchmark, and the steps that its loop takes."""

from __future__ import annotations

import importlib
import json
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
SMALL = ("--num-envs", "8", "--steps", "16", "--repeats", "1")


def benchmark(*arguments: str | Path) -> list[str]:
    """The lines of the table that a run prints."""
    command = [sys.executable, TOOLS / "benchmark", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_rows_are_printed_and_written(tmp_path: Path) -> None:
    out = tmp_path / "rows.json"
    lines = benchmark("CartPole-v1", "--variants", "envcore rollout", *SMALL, "--out", out)
    assert lines[0] == "| id | num_envs | variant | reads | speed | ratio | compile |"
    assert lines[2].startswith("| CartPole-v1 | 8 | envcore rollout | float32 | ")
    (row,) = json.loads(out.read_text())
    assert row["speed"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        (["CartPole-v1", "--variants", "envcore + PPO", "rewards only, native"], 2),
        (["--bridges", "pgx/2048"], 2),
        (["--gymnasium", "Acrobot-v1"], 8),
    ],
)
def test_every_kind_runs(arguments: list[str], rows: int) -> None:
    assert len(benchmark(*arguments, *SMALL)) == 2 + rows


def played_by_hand() -> float:
    """The rewards of gymnax's loop, and column `number` of the observations before step `number`."""
    env: Any
    env, params = envcore.make("CartPole-v1")
    reset, step = jax.vmap(env.reset, (0, None)), jax.vmap(env.step, (0, 0, 0, None))
    key, key_reset = jax.random.split(KEY, 2)
    obs, state = reset(jax.random.split(key_reset, NUM_ENVS), params)
    total = 0.0
    for number in range(NUM_STEPS):
        total += np.asarray(obs)[:, number % 4].sum()
        key, key_act, key_step = jax.random.split(key, 3)
        action = jax.random.randint(key_act, (NUM_ENVS,), 0, 2)
        obs, state, reward = step(jax.random.split(key_step, NUM_ENVS), state, action, params)[:3]
        total += float(reward.sum())
    return total


def test_the_loop_reads_another_column_in_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TOOLS / "benchmark"))
    run = importlib.import_module("workloads").envcore_same_loop("CartPole-v1", NUM_ENVS, NUM_STEPS, "float32")
    assert float(jax.jit(run)(KEY)) == pytest.approx(played_by_hand(), rel=1e-5)
