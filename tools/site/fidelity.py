"""The fidelity page, from the recordings of the originals in tests/golden."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

_GOLDEN = Path(__file__).parents[2] / "tests" / "golden"
_ORIGINALS = {"bsuite": "bsuite", "classic": "gymnasium", "minatar": "minatar", "toy_text": "gymnasium"}


def write_page(path: Path, text: Path) -> None:
    """Writes the page: the text, with a table of the recordings in the place of `<!-- figures -->`."""
    rows = [_row(file) for file in sorted(_GOLDEN.glob("*.npz")) if "seeded_tables" not in file.name]
    total = sum(count for count, _ in rows)
    head = ["| recording | original | transitions | settings | kinds of events |", "|---|---|---|---|---|"]
    table = [*head, *(line for _, line in rows), "", f"Together {total:,} transitions."]
    path.write_text(text.read_text().replace("<!-- figures -->", "\n".join(table)))


def _row(file: Path) -> tuple[int, str]:
    with np.load(file) as arrays:
        meta: dict[str, Any] = json.loads(str(arrays["meta"]))
        count = sum(len(arrays[name]) for name in arrays.files if name.rpartition(".")[2] == "action")
    suite, _, name = file.stem.partition(".")
    versions = {key.lower(): value for key, value in meta.get("versions", {}).items()}
    original = _ORIGINALS[suite]
    segments, events = len(meta.get("segments", [])) or 1, len(meta.get("event_names", []))
    line = f"| {suite}: {name} | {original} {versions.get(original, '')} | {count:,} | {segments} | {events or ''} |"
    return count, line
