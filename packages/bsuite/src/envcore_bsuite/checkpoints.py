"""Saves the running programs of bsuite's runner, so that a killed run can continue."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import math
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import trees
from envcore.plugins import one_line
from envcore_runs.records import File, shown

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
    leaves: list[np.ndarray]

    def restore(self, like: Any) -> Any:
        """The pytree that was saved.

        Args:
          like: a pytree of the same structure, dtypes and shapes.

        Raises:
          RunError: the saved one differs from it.
        """
        expected, structure = jax.tree.flatten(like)
        fits = len(expected) == len(self.leaves) and all(
            (x.shape, x.dtype) == (y.shape, y.dtype) for x, y in zip(map(_plain, expected), self.leaves, strict=True)
        )
        if not fits:
            raise RunError(
                f"{self.path} was saved by another agent, or by another version of envcore-bsuite: continue with that "
                "one, choose another results_dir, or delete the file to play these settings from the start."
            )
        return jax.tree.unflatten(structure, map(_like, self.leaves, expected))


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
                raise ValueError(f"has a lane of no setting of bsuite, {shown(lane.bsuite_id)}")
            if fault := fault_of(rows):
                raise ValueError(f"has {fault}")
            if len(rows) > len(logged_episodes(EPISODES[lane.bsuite_id])):
                raise ValueError("has more rows than are logged")


def path_of(folder: Path, lanes: Sequence[Lane]) -> Path:
    """The file for a program that starts with these lanes."""
    digest = hashlib.sha256(json.dumps(lanes).encode()).hexdigest()
    return folder / f"{_PREFIX}{lanes[0].bsuite_id.replace('/', '-')}-{digest[:8]}.npz"


def content(lanes: Sequence[Lane], rows: Sequence[Sequence[Row]], progress: Any) -> bytes:
    """A checkpoint of these lanes."""
    written = io.BytesIO()
    leaves: dict[str, Any] = {f"leaf_{number}": _plain(leaf) for number, leaf in enumerate(jax.tree.leaves(progress))}
    np.savez(written, about=np.array(json.dumps({"lanes": lanes, "rows": rows})), **leaves)
    return written.getvalue()


def load(content: bytes, path: Path) -> Checkpoint:
    """The checkpoint that `content` made; `path` is that of its file, for errors.

    Raises:
      RunError: it is damaged.
    """
    file = file_of(path)
    if not zipfile.is_zipfile(io.BytesIO(content)):  # numpy would take it for a pickle
        raise file.damaged("it is not an .npz file")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            if sum(each.file_size for each in arrays.zip.infolist()) > len(content):
                raise ValueError("it is compressed")
            text = str(arrays["about"])
            leaves = [arrays[f"leaf_{number}"] for number in range(len(arrays.files) - 1)]
    except Exception as error:  # numpy's and zipfile's depend on what is damaged
        raise file.damaged(one_line(error)) from error
    about = file.parsed(text, _About)
    return Checkpoint(path, tuple(about.lanes), [[*rows] for rows in about.rows], leaves)


def load_all(folder: Path) -> Iterator[tuple[Checkpoint, bytes]]:
    """Every checkpoint in a folder, and the content of its file.

    Raises:
      RunError: a file is damaged.
    """
    for path in sorted(folder.glob(f"{_PREFIX}*.npz")):
        found = file_of(path).content(math.inf)
        yield load(found, path), found


def file_of(path: Path) -> File:
    """The file of a checkpoint."""
    return File(path, "Delete it to play its settings again.", RunError)


def _plain(leaf: Any) -> np.ndarray:
    """A leaf as a numpy array; the words of a typed key."""
    return np.asarray(jax.random.key_data(leaf) if trees.is_key(leaf) else leaf)


def _like(saved: np.ndarray, leaf: Any) -> jax.Array:
    """The inverse of `_plain`; `leaf` is of the original's kind."""
    array = jnp.asarray(saved)
    return jax.random.wrap_key_data(array, impl=jax.random.key_impl(leaf)) if trees.is_key(leaf) else array
