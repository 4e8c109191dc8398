"""Reads the recordings of the original environments in tests/golden; its README describes the columns."""

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
    """A recorded combination of settings and policy of the original.

    Attributes:
      label: a description.
      kwargs: arguments of the original's constructor.
      attributes: attributes that were set on the original after its construction.
    """

    label: str
    kwargs: dict[str, Any]
    attributes: dict[str, Any]


@dataclass(frozen=True)
class Recording:
    """Steps of one original environment, one per row, and some of its resets.

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
        """The arrays called `prefix.field`, by field; prefixes are "before", "after", "draw" and "reset"."""
        arrays = {**self.columns, **self.extras}
        return {name.removeprefix(f"{prefix}."): x for name, x in arrays.items() if name.startswith(f"{prefix}.")}

    def rows(self, index: np.ndarray) -> Recording:
        """The recording with only these rows, given by a mask or by indices."""
        return replace(self, columns={name: x[index] for name, x in self.columns.items()})

    def segments(self) -> Iterator[tuple[Segment, Recording]]:
        """Each segment with its rows."""
        for number, entry in enumerate(self.meta["segments"]):
            segment = Segment(entry["label"], entry.get("kwargs", {}), entry.get("attributes", {}))
            yield segment, self.rows(self.columns["segment"] == number)

    def events(self) -> dict[str, np.ndarray]:
        """Masks of the rows with each event, bool (rows,), by the name of the event."""
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
