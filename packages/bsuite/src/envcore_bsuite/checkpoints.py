"""Saves the running programs of bsuite's runner, so that a killed run can continue."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import trees

from envcore_bsuite.csv_log import Row
from envcore_bsuite.errors import RunError
from envcore_bsuite.programs import Lane

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
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            leaves = [file[f"leaf_{number}"] for number in range(len(file.files) - 1)]
        return Checkpoint(path, tuple(Lane(*each) for each in about["lanes"]), about["rows"], leaves)
    except Exception as error:
        raise RunError(f"{path} is not a readable checkpoint: delete it to play its settings again.") from error


def load_all(folder: Path) -> Iterator[tuple[Checkpoint, bytes]]:
    """Every checkpoint in a folder, and the content of its file.

    Raises:
      RunError: a file is damaged.
    """
    for path in sorted(folder.glob(f"{_PREFIX}*.npz")):
        found = path.read_bytes()
        yield load(found, path), found


def _plain(leaf: Any) -> np.ndarray:
    """A leaf as a numpy array; the words of a typed key."""
    return np.asarray(jax.random.key_data(leaf) if trees.is_key(leaf) else leaf)


def _like(saved: np.ndarray, leaf: Any) -> jax.Array:
    """The inverse of `_plain`; `leaf` is of the original's kind."""
    array = jnp.asarray(saved)
    return jax.random.wrap_key_data(array, impl=jax.random.key_impl(leaf)) if trees.is_key(leaf) else array
