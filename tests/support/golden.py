"""Reads the recordings of the original environments in tests/golden; the README there describes their columns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parents[1] / "golden"


@dataclass(frozen=True)
class Segment:
    """One setting and policy of the original that was recorded.

    Attributes:
      label: what it is, for people.
      kwargs: arguments of the original's constructor.
      attributes: attributes that were set on the original after it was made.
    """

    label: str
    kwargs: dict[str, Any]
    attributes: dict[str, Any]


@dataclass(frozen=True)
class Recording:
    """Steps of one original environment, one to a row, and some of its resets.

    Attributes:
      columns: arrays with one row for each step.
      extras: the other arrays: resets (`reset...`) and constants (`constant...`).
      meta: settings, names of events, versions.
    """

    columns: dict[str, np.ndarray]
    extras: dict[str, np.ndarray]
    meta: dict[str, Any]

    def __len__(self) -> int:
        return len(self.columns["segment"])

    def __getitem__(self, column: str) -> np.ndarray:
        return self.columns[column]

    def group(self, prefix: str) -> dict[str, np.ndarray]:
        """The arrays called `prefix.field`, by field: "before", "after" and "draw" of the steps, "reset"."""
        arrays = {**self.columns, **self.extras}
        return {name.removeprefix(f"{prefix}."): x for name, x in arrays.items() if name.startswith(f"{prefix}.")}

    def rows(self, index: np.ndarray) -> Recording:
        """The recording with only these rows, given by a mask or by their numbers."""
        return replace(self, columns={name: x[index] for name, x in self.columns.items()})

    def segments(self) -> Iterator[tuple[Segment, Recording]]:
        """Each segment with its rows."""
        for number, entry in enumerate(self.meta["segments"]):
            segment = Segment(entry["label"], entry.get("kwargs", {}), entry.get("attributes", {}))
            yield segment, self.rows(self.columns["segment"] == number)

    def events(self) -> dict[str, np.ndarray]:
        """Which rows show an event, bool (rows,), by the event's name."""
        names = self.meta["event_names"]
        flags = np.unpackbits(self.columns["events"], axis=1, count=len(names)).astype(bool)
        return dict(zip(names, flags.T, strict=True))


def load(name: str) -> Recording:
    """Reads `tests/golden/{name}.npz`."""
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files}
    meta = json.loads(str(arrays.pop("meta")))
    extras = {key: arrays.pop(key) for key in list(arrays) if key.startswith(("reset", "constant."))}
    return Recording(arrays, extras, meta)
