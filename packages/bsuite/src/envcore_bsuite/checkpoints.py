"""Saves the running programs of bsuite's runner, so that a killed run can continue."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from envcore.errors import FileError
from envcore.typing import PyTree
from envcore_runs import checkpoint
from envcore_runs.records import File

from envcore_bsuite.csv_log import Row, fault_of, logged_episodes
from envcore_bsuite.errors import RunError
from envcore_bsuite.programs import Lane
from envcore_bsuite.sweep import EPISODES

_PREFIX = ".checkpoint-"


class Checkpoint(NamedTuple):
    """A program's lanes, the rows of their logs and their progress; `path` is that of its file, for errors."""

    path: Path
    lanes: tuple[Lane, ...]
    rows: list[list[Row]]
    tensors: dict[str, np.ndarray]

    def restore(self, like: PyTree) -> PyTree:
        """The pytree that was saved.

        Args:
          like: arrays of the same structure, dtypes and shapes.

        Raises:
          RunError: the saved one differs from it.
        """
        try:
            return checkpoint.restore(self.path, self.tensors, like)
        except FileError:
            raise RunError(
                f"{self.path} was saved by another agent, or by another version of envcore-bsuite: continue with that "
                "one, choose another results_dir, or delete the file to play these settings from the start."
            ) from None


@dataclasses.dataclass(frozen=True)
class _About:
    """What a checkpoint says beside its arrays."""

    lanes: list[Lane]
    rows: list[list[dict[str, float]]]

    def __post_init__(self) -> None:
        if not self.lanes or len(set(self.lanes)) < len(self.lanes) or len(self.rows) != len(self.lanes):
            raise ValueError("has not one list of rows for each of several different lanes")
        for lane, rows in zip(self.lanes, self.rows, strict=True):
            if lane.bsuite_id not in EPISODES:
                raise ValueError(f"has a lane of no setting of bsuite, {lane.bsuite_id!r}")
            if fault := fault_of(rows):
                raise ValueError(f"has {fault}")
            if len(rows) > len(logged_episodes(EPISODES[lane.bsuite_id])):
                raise ValueError("has more rows than are logged")


def path_of(folder: Path, lanes: Sequence[Lane]) -> Path:
    """The file for a program that starts with these lanes."""
    digest = hashlib.sha256(json.dumps(lanes).encode()).hexdigest()
    return folder / f"{_PREFIX}{lanes[0].bsuite_id.replace('/', '-')}-{digest[:8]}.safetensors"


def content(lanes: Sequence[Lane], rows: Sequence[Sequence[Row]], progress: PyTree) -> bytes:
    """A checkpoint of these lanes."""
    return checkpoint.packed(progress, {"lanes": lanes, "rows": rows})


def load(content: bytes, path: Path) -> Checkpoint:
    """The checkpoint that `content` made; `path` is that of its file, for errors.

    Raises:
      RunError: it is damaged.
    """
    tensors, about = checkpoint.unpacked(file_of(path), content, _About)
    return Checkpoint(path, tuple(about.lanes), [[*rows] for rows in about.rows], tensors)


def load_all(folder: Path) -> Iterator[tuple[Checkpoint, bytes]]:
    """Every checkpoint in a folder, and the content of its file.

    Raises:
      RunError: a file is damaged.
    """
    for path in sorted(folder.glob(f"{_PREFIX}*.safetensors")):
        found = file_of(path).content()
        yield load(found, path), found


def file_of(path: Path) -> File:
    """The file of a checkpoint."""
    return File(path, "Delete it to play its settings again.", RunError)
