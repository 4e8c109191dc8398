"""Rollouts in a folder: interrupted ones end like those that were not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import hostile_files
import jax
import pytest
from envcore.errors import EnvcoreError, FileError
from envcore.files import replace
from envcore_runs import checkpoint, saved_rollout
from envcore_runs.run_folder import locked
from envcore_runs.trajectories import Trajectories
from rollouts import RECORD, files, recorded, saved, stops_after

pytestmark = pytest.mark.usefixtures("toys", "chunks_of_16_steps")


def test_statistics_are_those_of_the_result(tmp_path: Path) -> None:
    statistics = saved(tmp_path / "run").statistics
    found = json.loads((tmp_path / "run" / "statistics.json").read_text())
    assert (found["steps"], found["episodes"]) == (100, statistics.episodes)
    assert (found["mean_return"], found["std_return"]) == (statistics.mean_return, statistics.std_return)
    assert (found["mean_length"], found["std_length"]) == (statistics.mean_length, statistics.std_length)


def test_statistics_before_the_first_episode_are_null(tmp_path: Path) -> None:
    saved(tmp_path / "run", num_envs=2, steps=1)
    found = json.loads((tmp_path / "run" / "statistics.json").read_text())
    assert (found["episodes"], found["mean_return"], found["lowest_return"]) == (0, None, None)


@pytest.mark.parametrize("chunks", [0, 1, 4])
def test_a_rollout_that_failed_ends_like_a_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunks: int
) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "folder"
    saved(whole, record=RECORD)
    with monkeypatch.context() as patch:
        patch.setattr(saved_rollout, "_SECONDS", 0.0)
        stops_after(patch, chunks, EnvcoreError("made up"))
        with pytest.raises(EnvcoreError, match="made up"):
            saved(folder, record=RECORD)
    result = saved(folder, record=RECORD)
    assert (result.steps, result.resumed_after) == (100, 16 * chunks)
    assert files(folder) == files(whole)


@pytest.mark.parametrize("chunks", [0, 1, 4])
def test_an_interrupt_saves_the_steps_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunks: int) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "folder"
    saved(whole, record=RECORD)
    with monkeypatch.context() as patch:
        stops_after(patch, chunks, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            saved(folder, record=RECORD)
    assert json.loads((folder / "statistics.json").read_text())["steps"] == 16 * chunks
    saved(folder, record=RECORD)
    assert files(folder) == files(whole)


def test_an_interrupt_between_a_file_and_its_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "folder"
    saved(whole, record=RECORD)
    write = Trajectories.write

    def stopping(self: Trajectories, first_step: int, shares: Any) -> None:
        if first_step < 32:
            write(self, first_step, shares)
            return
        monkeypatch.setattr("envcore_runs.trajectories.replace", interrupted)
        write(self, first_step, shares)

    def interrupted(*args: object) -> None:
        monkeypatch.setattr("envcore_runs.trajectories.replace", replace)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Trajectories, "write", stopping)
        with pytest.raises(KeyboardInterrupt):
            saved(folder, record=RECORD)
    assert len(recorded(folder)["obs"]) == 32
    saved(folder, record=RECORD)
    assert files(folder) == files(whole)


KILLED = """
import os, sys
from pathlib import Path
from envcore import registry
from envcore_runs import saved_rollout
from rollouts import RECORD, saved

registry.register("Counter-v0", "toy:Counter")
saved_rollout._FEWEST, saved_rollout._CHUNK, saved_rollout._SECONDS = 16, 96, 0.0

def progress(result):
    if result.steps == 64:
        os.kill(os.getpid(), 9)

saved(Path(sys.argv[1]), record=RECORD, progress=progress)
"""


@pytest.mark.slow
def test_a_rollout_that_was_killed_ends_with_the_same_bytes(tmp_path: Path) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "folder"
    saved(whole, record=RECORD)
    code = f"import sys\nsys.path[:0] = {sys.path}\n{KILLED}"
    # With another number of devices, the last digits of the statistics could differ.
    env = {**os.environ, "JAX_NUM_CPU_DEVICES": str(jax.local_device_count())}
    killed = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, check=False, env=env)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert files(folder) != files(whole)
    assert saved(folder, record=RECORD).resumed_after == 64
    assert files(folder) == files(whole)


def test_a_finished_rollout_is_reported_again(tmp_path: Path) -> None:
    first = saved(tmp_path / "run", record=RECORD)
    before = files(tmp_path / "run")
    again = saved(tmp_path / "run", record=RECORD)
    assert files(tmp_path / "run") == before
    assert again.statistics == first.statistics
    assert (again.steps, again.resumed_after, again.was_resumed, first.was_resumed) == (100, 100, True, False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": 4}, "its seed is 3, not 4"),
        ({"steps": 99}, "its steps is 100, not 99"),
        ({"params": {"bonus": 2}}, "its params.bonus was not given, and is 2 now"),
        ({"record": ["obs"]}, r"its record is \[\], not \['obs'\]"),
    ],
)
def test_a_folder_of_another_rollout(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    folder = tmp_path / "run"
    saved(folder)
    before = files(folder)
    with pytest.raises(FileError, match=f"^{folder} holds another run: {message}. Choose another folder.$"):
        saved(folder, **arguments)
    assert files(folder) == before


def test_a_folder_that_another_process_is_writing(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(FileError, match=f"^another process is writing to {tmp_path}: "):
        saved(tmp_path)
    saved(tmp_path)


def test_damaged_files(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    saved(folder, record=RECORD)
    whole = files(folder)

    def refused(name: str, content: bytes, message: str) -> None:
        (folder / name).write_bytes(content)
        before = files(folder)
        with pytest.raises(FileError) as caught:
            saved(folder, record=RECORD)
        assert str(caught.value).startswith(f"{folder / name} is damaged: {message}")
        assert str(caught.value).count("\n") == 0
        assert files(folder) == before
        (folder / name).write_bytes(whole[name])

    refused("run.json", b"{", "Expecting property name")
    refused("run.json", b"[]", "its content is [], not an object")
    refused("run.json", b"[" * 200_000, "it is nested too deeply")
    refused("checkpoint.safetensors", b"x", "Expecting value")
    manifest = "trajectories/manifest.json"
    refused(manifest, b"{}", "its steps_recorded is missing")
    refused(manifest, b"[" * 200_000, "it is nested too deeply")
    for changes, message in [
        ({"file": 3}, "its shards[1].file is 3, not a string"),
        ({"file": "../../x"}, "its shards[1] has another file, '../../x'"),
        ({"first_step": -16}, "its shards[1].first_step is -16, not an integer from 0"),
        ({"num_steps": 15}, "its shards do not hold the 100 steps of the checkpoint"),
    ]:
        changed = json.loads(whole[manifest])
        changed["shards"][1] |= changes
        refused(manifest, json.dumps(changed).encode(), message)
    changed = json.loads(whole[manifest])
    del changed["shards"][1]["file"]
    refused(manifest, json.dumps(changed).encode(), "its shards[1].file is missing")
    twice = {**changed, "shards": 2 * changed["shards"][:1]}
    refused(manifest, json.dumps(twice).encode(), "its content lists a shard twice")


def test_damaged_facts_of_a_checkpoint(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    path = folder / "checkpoint.safetensors"
    saved(folder)
    arrays, facts = checkpoint.load(path, dict[str, Any])
    for changes, message in [
        ({"steps": -1}, "its steps is -1, not an integer from 0 to"),
        ({"steps": 101}, "its steps is 101, of 100"),
        ({"steps": None}, "its steps is None, not an integer"),
        (
            {"statistics": {**facts["statistics"], "episodes": True}},
            "its statistics.episodes is True, not an integer",
        ),
        ({"statistics": {**facts["statistics"], "more": 1}}, "its statistics.more is unknown to this version"),
        ({"statistics": {"episodes": 3}}, "its content has statistics that no episodes have"),
        (
            {"statistics": {**facts["statistics"], "mean_return": 1e9}},
            "its content has statistics that no episodes have",
        ),
        (
            {"statistics": {**facts["statistics"], "episodes": 601}},
            "no episodes of 100 steps have its statistics",
        ),
        ({"steps": 0}, "no episodes of 0 steps have its statistics"),
    ]:
        path.write_bytes(hostile_files.sealed(arrays, {**facts, **changes}))
        with pytest.raises(FileError) as caught:
            saved(folder)
        assert str(caught.value).startswith(f"{path} is damaged: {message}")
        assert str(caught.value).count("\n") == 0
