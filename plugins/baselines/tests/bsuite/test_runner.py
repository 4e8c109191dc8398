"""The runner: bsuite's own logs, interrupted runs, and what is refused."""

from __future__ import annotations

import csv
import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import bsuite
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bsuite.logging.csv_logging import Logger
from bsuite.utils.wrappers import _logarithmic_logging
from envcore.errors import EnvcoreError, FileError
from envcore.files import replace
from envcore_baselines.bsuite import Agent, random_agent, run, runner
from envcore_bsuite.sweep import EPISODES, log_path
from envcore_runs.folder import CHECKPOINT, claimed
from periodic import periodic_agent

FEW = ("memory_len/0", "memory_len/2")  # one program
MORE = (*FEW, "bandit/3")  # two


def logs(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.csv")}


def always(action: int, env: Any) -> Agent:
    return random_agent(env)._replace(act=lambda state, obs, key: (jnp.int32(action), state))


@pytest.mark.parametrize(
    ("bsuite_id", "action"),
    [
        ("bandit/3", 4),
        ("discounting_chain/7", 2),
        pytest.param("deep_sea/0", 1, marks=pytest.mark.slow),
        ("bandit_scale/19", 0),
    ],
)
def test_a_fixed_policys_log_is_bsuites(
    tmp_path: Path, bsuite_id: str, action: int, capsys: pytest.CaptureFixture[str]
) -> None:
    run(functools.partial(always, action), tmp_path / "ours", [bsuite_id])
    env: Any = bsuite.load_and_record(bsuite_id, str(tmp_path / "theirs"))
    for _ in range(env.bsuite_num_episodes):
        timestep = env.reset()
        while not timestep.last():
            timestep = env.step(action)
    (ours,), (theirs,) = (tmp_path / "ours").glob("*.csv"), (tmp_path / "theirs").glob("*.csv")
    assert ours.name == theirs.name
    with ours.open(newline="") as first, theirs.open(newline="") as second:
        ours_rows, theirs_rows = list(csv.DictReader(first)), list(csv.DictReader(second))
    for got, expected in zip(ours_rows, theirs_rows, strict=True):
        assert got.keys() == expected.keys()
        np.testing.assert_allclose([float(got[x]) for x in got], [float(expected[x]) for x in got], rtol=1e-6)
    assert int(ours_rows[-1]["episode"]) == EPISODES[bsuite_id]


@pytest.mark.parametrize("num_episodes", [1, 9, 10, 999, 1_000, 10_000, 12_345])
def test_rows_are_written_when_bsuite_writes_them(num_episodes: int) -> None:
    expected = [number for number in range(1, num_episodes + 1) if _logarithmic_logging(number)]
    assert runner.logged_episodes(num_episodes) == expected


@pytest.mark.parametrize("number_of_rows", [1, 2, 3])
@pytest.mark.parametrize("bsuite_id", ["catch/3", "umbrella_length/22", "memory_size/0"])
def test_files_are_bsuites(tmp_path: Path, bsuite_id: str, number_of_rows: int) -> None:
    names = ("steps", "episode", "total_return", "episode_len", "episode_return", "total_regret")
    values = ((9, 1, -1.0, 9, -1.0, 0.0), (18, 2, 1e-05, 9, 0.1, 0.0), (27, 3, 3e16, 9, 30.0, 2.0))
    rows: list[Any] = [dict(zip(names, each, strict=True)) for each in values[:number_of_rows]]
    logger = Logger(bsuite_id, str(tmp_path / "theirs"))
    for row in rows:
        logger.write(row)
    runner.write_log(tmp_path, bsuite_id, rows)
    (theirs,) = (tmp_path / "theirs").iterdir()
    assert log_path(tmp_path, bsuite_id).name == theirs.name
    assert log_path(tmp_path, bsuite_id).read_bytes() == theirs.read_bytes()


def greedy_bandit(env: Any) -> Agent:
    """Tries every arm once, then pulls the best one."""

    def act(estimates: jax.Array, obs: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jnp.argmax(estimates).astype(jnp.int32), estimates

    def update(estimates: jax.Array, transition: Any, key: jax.Array) -> jax.Array:
        return estimates.at[transition.action].set(transition.reward)

    return Agent(lambda key: jnp.full(env.action_space(env.default_params).n, 2.0), act, update)


def test_a_learning_agent_learns(tmp_path: Path) -> None:
    run(greedy_bandit, tmp_path, ["bandit/0", "bandit/1"])
    for path in tmp_path.glob("*.csv"):
        last = path.read_text().splitlines()[-1].split(",")
        assert last[:2] == ["10000", "10000"]
        assert float(last[-1]) == pytest.approx(5.5, abs=1e-4)  # each arm once


@pytest.mark.slow
def test_equal_seeds_and_ids_give_equal_logs_whatever_else_runs(tmp_path: Path) -> None:
    run(random_agent, tmp_path / "a", MORE, seed=2**32 + 1)
    run(random_agent, tmp_path / "b", "bsuite/memory_len/2", seed=2**32 + 1)
    run(random_agent, tmp_path / "c", ["memory_len/2"], seed=1)
    a, b, c = (logs(tmp_path / name)["bsuite_id_-_memory_len-2.csv"] for name in "abc")
    assert len(logs(tmp_path / "a")) == 3
    assert a == b
    assert a != c


def test_finished_settings_are_not_run_again(tmp_path: Path) -> None:
    made: list[Any] = []
    shown: list[tuple[int, int]] = []

    def agent(env: Any) -> Agent:
        made.append(env)
        return random_agent(env)

    run(agent, tmp_path, FEW[:1])
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.csv")}
    run(agent, tmp_path, MORE, progress=lambda *each: shown.append(each))
    run(agent, tmp_path, MORE)
    assert len(made) == 3
    assert {path: path.stat().st_mtime_ns for path in before} == before
    total = sum(EPISODES[each] for each in MORE)
    assert shown == sorted(shown)
    assert shown[-1] == (total, total)


@pytest.mark.parametrize("agent", [random_agent, pytest.param(periodic_agent, marks=pytest.mark.slow)])
def test_an_interrupted_run_continues(tmp_path: Path, agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    run(agent, tmp_path / "whole", MORE)
    calls: list[Any] = []

    def interrupt(played: int, total: int) -> None:
        calls.append(played)
        if len(calls) in (20, 40, 90):
            signal.raise_signal(signal.SIGINT)

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            run(agent, tmp_path / "parts", MORE, progress=interrupt)
        assert (tmp_path / "parts" / CHECKPOINT).exists()
        assert logs(tmp_path / "parts") != logs(tmp_path / "whole")
    monkeypatch.setattr(runner, "_SAVING", 0.0)
    run(agent, tmp_path / "parts", ["bandit/3"])  # what was interrupted is finished first
    run(agent, tmp_path / "parts", MORE)
    assert logs(tmp_path / "parts") == logs(tmp_path / "whole")
    assert not (tmp_path / "parts" / CHECKPOINT).exists()


@pytest.mark.slow
def test_a_killed_run_continues(tmp_path: Path) -> None:
    code = (
        "import sys; from envcore_baselines.bsuite import random_agent, run, runner; runner._SAVING = 0.0; "
        f"run(random_agent, sys.argv[1], {MORE})"
    )
    for seconds in (0.0, 0.1, 0.3, 1.0):
        with subprocess.Popen([sys.executable, "-c", code, tmp_path / "parts"]) as process:
            until = time.monotonic() + 120
            while not (tmp_path / "parts" / CHECKPOINT).exists() and time.monotonic() < until and not process.poll():
                time.sleep(0.01)
            time.sleep(seconds)
            os.kill(process.pid, signal.SIGKILL)
    for folder in ("parts", "whole"):
        run(random_agent, tmp_path / folder, MORE)
    assert logs(tmp_path / "parts") == logs(tmp_path / "whole")


def test_a_full_disk_is_one_line_and_the_run_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(random_agent, tmp_path / "whole", FEW)
    writes: list[Path] = []

    def fails(path: Path, content: bytes) -> None:
        writes.append(path)
        if len(writes) == 30:
            raise FileError(f"cannot write {path}: No space left on device.")
        replace(path, content)

    monkeypatch.setattr(runner, "_SAVING", 0.0)
    monkeypatch.setattr(runner, "replace", fails)
    with pytest.raises(FileError, match=r"cannot write .*\.csv: No space left on device\."):
        run(random_agent, tmp_path / "parts", FEW)
    monkeypatch.undo()
    run(random_agent, tmp_path / "parts", FEW)
    assert logs(tmp_path / "parts") == logs(tmp_path / "whole")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ids": ["deep_see/1"]}, "bsuite has no experiment or setting 'deep_see/1'. Did you mean 'deep_sea/1'"),
        ({"seed": -1}, "seed must be an integer from 0 to .* got -1"),
        ({"options": {"minst": {}}}, "options: bsuite has no experiment 'minst'"),
    ],
)
def test_invalid_arguments(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    everything: dict[str, Any] = {"ids": FEW, **arguments}
    with pytest.raises(EnvcoreError, match=message):
        run(random_agent, tmp_path, **everything)
    assert not list(tmp_path.iterdir())


def test_a_folder_of_a_different_run(tmp_path: Path) -> None:
    run(random_agent, tmp_path, FEW[:1])
    with pytest.raises(FileError, match="holds another run: its seed is 0, not 1"):
        run(random_agent, tmp_path, FEW, seed=1)
    with pytest.raises(FileError, match=r"its agent is 'envcore_.*:random_agent', not "):
        run(greedy_bandit, tmp_path, FEW)
    with claimed(tmp_path, json.loads((tmp_path / "run.json").read_text())), pytest.raises(FileError, match="another"):
        run(random_agent, tmp_path, FEW)


def test_options_reach_the_environment(tmp_path: Path) -> None:
    options = {"catch": {"rows": 3}}
    run(random_agent, tmp_path, ["catch/0"], options=options)
    (path,) = tmp_path.glob("*.csv")
    assert path.read_text().splitlines()[1].startswith("2,1,")
    assert json.loads((tmp_path / "run.json").read_text())["options"] == options
