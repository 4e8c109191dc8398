"""`envcore rollout`: what it prints, its errors in one line, and signals that save."""

from __future__ import annotations

import json
import os
import resource
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import Run
from envcore_cli.assignments import choose
from envcore_cli.rollout_report import report_rollout
from envcore_runs.loop import Loop
from rollouts import files, recorded
from several_processes import SOON, Command, commands, pair

ROLLOUT = ("rollout", "Counter-v0", "--num-envs", "6", "--steps", "100", "--seed", "3")
RECORD = ("--record", "state,obs,action,reward,terminated,truncated")
SHORT_CHUNKS = """
import envcore_cli
from envcore_runs import run
run._CHUNK, run._SAVING = {}, {}
envcore_cli.main()
"""


class TestResults:
    def test_statistics_are_those_of_the_table(self, run: Run, tmp_path: Path) -> None:
        code, out, _ = run(*ROLLOUT, "--out", str(tmp_path / "run"))
        assert code == 0
        found = json.loads((tmp_path / "run" / "statistics.json").read_text())
        assert found["steps"] == 100
        assert f"{found['episodes']:,}" in out
        assert f"{found['mean_return']:.2f} ± {found['std_return']:.2f} (from " in out
        assert f"{found['mean_length']:.1f} ± {found['std_length']:.1f} steps" in out

    def test_a_finished_rollout_is_reported_again(self, run: Run, tmp_path: Path) -> None:
        args = (*ROLLOUT, *RECORD, "--out", str(tmp_path / "run"))
        first = run(*args)[1]
        before = files(tmp_path / "run")
        code, again, _ = run(*args)
        assert code == 0
        assert files(tmp_path / "run") == before
        lines = [
            [line.split() for line in out.splitlines() if line.startswith(("episodes", "return"))]
            for out in (first, again)
        ]
        assert lines[0] == lines[1] != []
        assert "steps/s" not in again
        assert "compile time" not in again


LONG = ("rollout", "CartPole-v1", "--num-envs", "16", "--steps", "40000", "--seed", "5")
RECORD_LONG = ("--record", "obs,action,reward,done")


def long_rollout(folder: Path, seconds: float = 0.02, **kwargs: Any) -> Command:
    """A rollout of some seconds in 157 chunks."""
    program = SHORT_CHUNKS.format(256 * 16, seconds)
    return Command(*LONG, *RECORD_LONG, "--out", str(folder), program=program, **kwargs)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a long rollout without an interruption."""
    folder = tmp_path_factory.mktemp("long") / "whole"
    with commands(long_rollout(folder, seconds=1e9)) as (command,):
        status, _, err = command.end()
    assert status == 0, err
    return folder


def num_shards(folder: Path) -> int:
    return len(list(folder.glob("trajectories/*.safetensors")))


def wait_for_shards(folder: Path, num: int, command: Command) -> None:
    until = time.monotonic() + SOON
    while num_shards(folder) < num and command.process.poll() is None and time.monotonic() < until:
        time.sleep(0.001)


@pytest.mark.slow
def test_a_full_disk_stops_with_one_line_and_the_last_checkpoint_stays(whole: Path, tmp_path: Path) -> None:
    """A limit on the size of files fails in the kernel like a full disk, in the middle of a file."""
    folder = tmp_path / "full"
    with commands(long_rollout(folder)) as (command,):
        wait_for_shards(folder, 40, command)
        resource.prlimit(command.process.pid, resource.RLIMIT_FSIZE, (1000, 1000))
        status, _, err = command.end()
    assert status == 1
    lines = [line for line in err.splitlines() if line]
    assert len(lines) == 1
    assert lines[0].startswith(f"error: cannot write {folder}/")
    assert lines[0].endswith(": File too large.")
    assert not list(folder.rglob(".*"))
    with commands(long_rollout(folder)) as (command,):
        status, out, err = command.end()
    assert status == 0, err
    assert "steps, not counted in the speed" in out
    assert files(folder) == files(whole)


@pytest.mark.slow
def test_two_processes_record_what_one_records(whole: Path, tmp_path: Path) -> None:
    two = tmp_path / "two"
    program = SHORT_CHUNKS.format(256 * 16, 0.02)
    with commands(*pair(*LONG, *RECORD_LONG, "--out", str(two), program=program)) as found:
        wait_for_shards(two, 60, found[0])
        found[1].process.send_signal(signal.SIGKILL)
        assert found[0].end()[0] != 0
    with commands(*pair(*LONG, *RECORD_LONG, "--out", str(two), program=program)) as found:
        (first, out, err), (second, _, _) = (each.end() for each in found)
    assert (first, second) == (0, 0), err
    assert "steps, not counted in the speed" in out
    mine, theirs = recorded(whole), recorded(two)
    assert set(mine) == set(theirs)
    for name, array in mine.items():
        np.testing.assert_array_equal(theirs[name], array)
    statistics = [json.loads((each / "statistics.json").read_text()) for each in (two, whole)]
    assert statistics[0] == pytest.approx(statistics[1], rel=1e-12)


def test_results_so_far_are_shown_on_ctrl_c(run: Run, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def advance(self: Loop, limit: int) -> list[Any]:
        os.kill(os.getpid(), signal.SIGINT)
        return before(self, 40)

    before = Loop.advance
    monkeypatch.setattr(Loop, "advance", advance)
    with pytest.raises(KeyboardInterrupt):
        report_rollout(choose("Counter-v0"), 500, num_envs=7)
    out = capsys.readouterr().out
    assert "interrupted, so these are partial results" in out
    assert "7 in parallel, 40 steps each" in out
    assert "return" in out


def test_rollout_reports(run: Run) -> None:
    code, out, _ = run("rollout", "Counter-v0", "--num-envs", "7", "--steps", "43")
    assert code == 0
    for part in (
        "7 in parallel, 43 steps each",
        "7 (the first episode of each environment)",
        "return",
        "length",
        "steps/s",
        "compile time",
    ):
        assert part in out
    assert "to 1.50)" in out  # an episode that counts to three returns 3 * 0.5


def test_unfinished_episodes_are_reported_in_place_of_a_mean(run: Run) -> None:
    code, out, _ = run("rollout", "Counter-v0", "--num-envs", "7", "--steps", "2")
    assert code == 0
    text = " ".join(out.split())
    assert "0 (the first episode of each environment)" in text
    assert "7 of 7 environments have not finished an episode. There is no mean return yet" in text
    assert "Use --episodes 1 without --steps to wait for all environments." in text
    assert "±" not in out
