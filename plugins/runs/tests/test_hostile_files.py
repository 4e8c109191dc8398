"""Folders of rollouts in which anything may stand: each reader returns what it has checked, or says what is wrong."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import hostile_files
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import FileError
from envcore_runs import checkpoint, run_folder
from envcore_runs.episode_statistics import EpisodeStatistics
from envcore_runs.manifest import MANIFEST
from envcore_runs.saved_rollout import CHECKPOINT, _Saved
from envcore_runs.trajectories import Trajectories
from safetensors.numpy import save_file

RUN = {"env_id": "Counter-v0", "options": {"goal": 4}, "params": {"bonus": 0.5}, "steps": 100, "record": ["obs"]}
ABOUT = {"env_id": "Counter-v0", "num_envs": 6}
SHARDS: list[dict[str, Any]] = [
    {"file": f"step-{16 * n:012}-env-00000000.safetensors", "first_step": 16 * n, "num_steps": 16}
    | {"first_env": 0, "num_envs": 6}
    for n in range(3)
]
ARRAYS = {"obs": {"dtype": "float32", "shape": [5]}}
SAVED = {
    "steps": 32,
    "unfinished": 0,
    "statistics": dataclasses.asdict(EpisodeStatistics(3, 1.5, 0.5, 1.0, 2.0, 7.0, 0.0)),
}
KEY = jax.random.key(3)
TREE = {"weights": jnp.ones((2, 3)), "count": jnp.int32(3), "keys": jax.random.split(KEY, 2)}
STRUCT = jax.eval_shape(lambda: TREE)

pytestmark = pytest.mark.parametrize("mutations", hostile_files.MUTATIONS)


def test_run_json(tmp_path: Path, mutations: int) -> None:
    def read(content: bytes) -> None:
        (tmp_path / run_folder.RUN).write_bytes(content)
        with run_folder.claimed(tmp_path, RUN):
            assert json.loads(content) == RUN

    hostile_files.check(read, hostile_files.of_json(RUN), mutations)


def test_manifest(tmp_path: Path, mutations: int) -> None:
    outside = tmp_path / "step-000000000000-env-00000000.safetensors"
    outside.touch()
    folder = tmp_path / "trajectories"
    folder.mkdir()
    for each in SHARDS:
        save_file({"obs": np.zeros((16, 6, 5), np.float32)}, folder / each["file"])

    def read(content: bytes) -> None:
        (folder / MANIFEST).write_bytes(content)
        trajectories = Trajectories(folder, ["obs"], ABOUT, {"obs": jax.ShapeDtypeStruct((5,), jnp.float32)})
        try:
            trajectories.resume(32)
        except FileError:
            assert all((folder / each["file"]).exists() for each in SHARDS)
            raise
        save_file({"obs": np.zeros((16, 6, 5), np.float32)}, folder / SHARDS[2]["file"])
        assert [dataclasses.asdict(each) for each in trajectories._shards] == SHARDS[:2]

    manifest = {**ABOUT, "steps_recorded": 48, "arrays": ARRAYS, "shards": SHARDS}
    hostile_files.check(read, hostile_files.of_json(manifest), mutations)
    assert outside.exists()


def test_bytes_of_a_checkpoint(tmp_path: Path, mutations: int) -> None:
    path = tmp_path / CHECKPOINT
    checkpoint.save(path, TREE, SAVED)

    def read(content: bytes) -> None:
        path.write_bytes(content)
        tensors, saved = checkpoint.load(path, _Saved)
        assert dataclasses.asdict(saved) == SAVED  # as nothing but damage is left out
        checkpoint.restore(path, tensors, STRUCT, KEY)

    hostile_files.check(read, hostile_files.of_bytes(path.read_bytes()), mutations)


def test_checkpoints_with_a_valid_digest(tmp_path: Path, mutations: int) -> None:
    path = tmp_path / CHECKPOINT

    def read(about: Any) -> None:
        checkpoint.save(path, TREE, about)
        saved = checkpoint.load(path, _Saved)[1]
        assert 0 <= saved.steps < 2**63
        assert saved.statistics.episodes >= 0
        assert math.isfinite(saved.statistics.mean_length) == (saved.statistics.episodes > 0)

    hostile_files.check(read, hostile_files.of_value(SAVED), mutations)


def test_arrays_of_a_checkpoint_with_a_valid_digest(tmp_path: Path, mutations: int) -> None:
    path = tmp_path / CHECKPOINT
    checkpoint.save(path, TREE, SAVED)
    valid, _ = checkpoint.load(path, _Saved)

    def read(arrays: dict[str, np.ndarray]) -> None:
        path.write_bytes(hostile_files.sealed(arrays, SAVED))
        found = checkpoint.restore(path, checkpoint.load(path, _Saved)[0], STRUCT, KEY)
        assert jax.tree.map(lambda x: (x.shape, x.dtype), found) == jax.tree.map(lambda x: (x.shape, x.dtype), STRUCT)

    hostile_files.check(read, hostile_files.of_arrays(valid), mutations)
