"""Folders of runs in which anything may stand: the runner and the analysis read them whole, or say what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hostile_files
import jax
import numpy as np
import pytest
from envcore_bsuite import checkpoints, csv_log
from envcore_bsuite.agents import random_agent
from envcore_bsuite.analysis import load_results, score
from envcore_bsuite.playing import Play
from envcore_bsuite.programs import Lane, Program, group
from envcore_bsuite.runner import _check_manifest
from envcore_runs import checkpoint

LANES = (Lane("catch/0", 0), Lane("catch/1", 0))
PLAY = Play(random_agent, 0, {}, LANES, Path("checkpoint.safetensors"))
ROWS = [
    {"steps": 9 * n, "episode": n, "total_return": 1.0, "episode_len": 9, "episode_return": -1.0, "total_regret": 2.0}
    for n in (1, 2, 3)
]
MANIFEST = {"agent": "a:b", "seed": 0, "num_seeds": 1, "options": {"catch": {"rows": 3}}}

pytestmark = pytest.mark.parametrize("mutations", hostile_files.MUTATIONS)


def test_manifest(tmp_path: Path, mutations: int) -> None:
    path = tmp_path / "run.json"

    def read(content: bytes) -> None:
        path.write_bytes(content)
        _check_manifest(path, MANIFEST)
        assert json.loads(content).items() >= MANIFEST.items()

    hostile_files.check(read, hostile_files.of_json(MANIFEST), mutations)


def test_logs_of_the_runner(tmp_path: Path, mutations: int) -> None:
    csv_log.write(tmp_path, "catch/0", ROWS)
    path = csv_log.path_of(tmp_path, "catch/0")

    def read(content: bytes) -> None:
        path.write_bytes(content)
        assert csv_log.last_episode(tmp_path, "catch/0") in csv_log.logged_episodes(10**9)

    hostile_files.check(read, hostile_files.of_bytes(path.read_bytes()), mutations)


def test_logs_of_the_analysis(tmp_path: Path, mutations: int) -> None:
    for bsuite_id in ("catch/0", "catch/1"):
        csv_log.write(tmp_path, bsuite_id, ROWS)
    path = csv_log.path_of(tmp_path, "catch/0")

    def read(content: bytes) -> None:
        path.write_bytes(content)
        assert score(load_results(tmp_path))["bsuite_env"].tolist() == ["catch"]

    hostile_files.check(read, hostile_files.of_bytes(path.read_bytes()), mutations)


@pytest.fixture(scope="module")
def state() -> bytes:
    """A checkpoint after some episodes."""
    return next(save for update, save in PLAY(None) if all(number >= 3 for number in update.episodes.values()))()


def unpacked(state: bytes) -> tuple[dict[str, np.ndarray], Any]:
    return checkpoint.unpacked(checkpoints.file_of(PLAY.path), state, dict[str, Any])


def test_bytes_of_a_checkpoint(state: bytes, mutations: int) -> None:
    hostile_files.check(lambda content: checkpoints.load(content, PLAY.path), hostile_files.of_bytes(state), mutations)


def test_facts_of_a_checkpoint(state: bytes, mutations: int) -> None:
    arrays, about = unpacked(state)

    def read(about: Any) -> None:
        found = checkpoints.load(hostile_files.sealed(arrays, about), PLAY.path)
        assert {lane.bsuite_id for lane in found.lanes} <= {f"catch/{number}" for number in range(20)}
        assert all(type(lane.repeat) is int and lane.repeat >= 0 for lane in found.lanes)

    hostile_files.check(read, hostile_files.of_value(about), mutations)


def test_arrays_of_a_checkpoint(state: bytes, mutations: int) -> None:
    arrays, about = unpacked(state)
    progress = Program(group(LANES, {})[0], random_agent).start(jax.random.key(0))

    def read(arrays: dict[str, np.ndarray]) -> None:
        checkpoints.load(hostile_files.sealed(arrays, about), PLAY.path).restore(progress)

    hostile_files.check(read, hostile_files.of_arrays(arrays), mutations)
