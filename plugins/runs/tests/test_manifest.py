"""A damaged manifest is refused before anything is removed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from envcore.errors import FileError
from envcore_runs import manifest
from envcore_runs.manifest import MANIFEST, Array, Manifest, Shard
from rollouts import files, saved
from safetensors.numpy import save_file

ABOUT = {"env_id": "Counter-v0", "num_envs": 6, "steps": 100}
ARRAYS = {"obs": Array("float32", [2]), "done": Array("bool", []), "key": Array("uint32", [2])}


def written(folder: Path, *places: tuple[int, int, int, int]) -> list[Shard]:
    """The manifest of shards (first step, steps, first environment, environments), and their files."""
    shards = [Shard.of(*place) for place in places]
    (folder / MANIFEST).write_bytes(Manifest(100, ARRAYS, shards).content(ABOUT))
    for each in shards:
        shape = each.num_steps, each.num_envs
        if each.num_envs <= 6:
            save_file({name: np.zeros((*shape, *x.shape), x.dtype) for name, x in ARRAYS.items()}, folder / each.file)
    return shards


@pytest.mark.parametrize(
    "places",
    [
        [(0, 8, 0, 6)],
        [(0, 3, 0, 6), (3, 5, 0, 6)],
        [(0, 3, 3, 3), (3, 5, 0, 6), (0, 3, 0, 3)],  # of two processes, then of one
        [(0, 8, 0, 6), (8, 8, 0, 6), (9, 1, 0, 3)],  # steps that come after the checkpoint
    ],
)
def test_each_step_of_each_environment_is_held_once(tmp_path: Path, places: list[Any]) -> None:
    expected = [each for each in written(tmp_path, *places) if each.first_step < 8]
    assert manifest.load(tmp_path, 8, ABOUT, ARRAYS) == expected


@pytest.mark.parametrize(
    "places",
    [
        [(0, 1, 10**6, 48)],
        [(0, 1, 0, 48)],
        [(0, 7, 0, 6)],
        [(0, 9, 0, 6)],
        [(0, 8, 0, 3), (0, 8, 2, 3)],  # as many as there are, but two of them twice
        [(0, 8, 0, 3), (0, 8, 3, 2)],
        [(0, 8, 0, 3), (0, 8, 3, 4)],
        [(0, 4, 0, 6), (3, 4, 0, 6)],
        [(0, 3, 0, 6), (4, 5, 0, 6)],
        [(0, 4, 0, 3), (0, 8, 3, 3), (4, 4, 0, 3)],
        [(1, 8, 0, 6)],
        [],
    ],
)
def test_shards_with_holes_or_overlaps_are_refused(tmp_path: Path, places: list[Any]) -> None:
    written(tmp_path, *places)
    message = f"{tmp_path / MANIFEST} is damaged: its shards do not hold the 8 steps of the checkpoint, each once. "
    with pytest.raises(FileError, match=f"^{re.escape(message)}"):
        manifest.load(tmp_path, 8, ABOUT, ARRAYS)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"env_id": "Deck-v0"}, "its env_id is 'Deck-v0', not 'Counter-v0'"),
        ({"num_envs": 7}, "its num_envs is 7, not 6"),
        ({"steps": None}, "its steps is None, not 100"),
        ({"arrays": {}}, "its arrays are not those that the steps have"),
        ({"arrays": {"obs": {"dtype": "float32", "shape": [3]}}}, "its arrays are not those that the steps have"),
        ({"arrays": {"obs": {"dtype": "x", "shape": []}}}, "its arrays are not those that the steps have"),
    ],
)
def test_a_manifest_of_another_rollout_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    written(tmp_path, (0, 8, 0, 6))
    content = json.loads((tmp_path / MANIFEST).read_text())
    (tmp_path / MANIFEST).write_text(json.dumps({**content, **changes}))
    with pytest.raises(FileError, match=f"is damaged: {message}"):
        manifest.load(tmp_path, 8, ABOUT, ARRAYS)
    del content["env_id"]
    (tmp_path / MANIFEST).write_text(json.dumps(content))
    with pytest.raises(FileError, match="is damaged: its env_id is missing"):
        manifest.load(tmp_path, 8, ABOUT, ARRAYS)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _longer(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")


def _other(path: Path) -> None:
    save_file({"obs": np.zeros((8, 6, 2), np.float32)}, path)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (Path.unlink, "does not exist, but the manifest lists it"),
        (_cut, "is damaged: "),
        (_longer, "is damaged: "),
        (_other, "is damaged: it does not hold the arrays that the manifest lists"),
    ],
)
def test_a_file_that_is_not_whole_is_refused(tmp_path: Path, damage: Callable[[Path], object], message: str) -> None:
    (shard,) = written(tmp_path, (0, 8, 0, 6))
    damage(tmp_path / shard.file)
    with pytest.raises(FileError, match=f"{shard.file} {message}") as caught:
        manifest.load(tmp_path, 8, ABOUT, ARRAYS)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.usefixtures("toys", "chunks_of_16_steps")
def test_nothing_is_removed_because_of_a_damaged_manifest(tmp_path: Path) -> None:
    saved(tmp_path, record=["obs"])
    path = tmp_path / "trajectories" / MANIFEST
    content = json.loads(path.read_text())
    shard = {"file": "step-000000000000-env-01000000.safetensors", "first_step": 0, "num_steps": 1}
    content["shards"] = [{**shard, "first_env": 10**6, "num_envs": 600}]  # as many steps as there are
    path.write_text(json.dumps(content))
    before = files(tmp_path)
    with pytest.raises(FileError, match="its shards do not hold the 100 steps of the checkpoint"):
        saved(tmp_path, record=["obs"])
    assert files(tmp_path) == before
