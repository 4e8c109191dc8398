"""Copy recordings of the original environments to tests/golden, with fewer rows.

    python tools/golden FOLDER [--files 'classic.*.npz'] [--rows 500] [--out tests/golden]

Rows with the same segment and set of events form a class. The copy keeps at most `--rows` rows of each class, evenly
spaced and in order, so that every segment and every combination of events remains. Resets and constants are unchanged.
Equal input gives equal files, byte for byte.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

_GOLDEN = Path(__file__).parents[2] / "tests" / "golden"


def main() -> None:
    summary, usage, *description = (__doc__ or "").strip().split("\n\n")
    parser = argparse.ArgumentParser(
        prog="python tools/golden",
        usage=usage.strip(),
        description="\n\n".join([summary, *description]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, help="folder with the full recordings")
    parser.add_argument("--files", default="classic.*.npz", help="pattern of file names")
    parser.add_argument("--rows", type=int, default=500, help="maximum number of rows with the same segment and events")
    parser.add_argument("--out", type=Path, default=_GOLDEN, help="folder for the copies")
    args = parser.parse_args()

    files = sorted(args.folder.glob(args.files))
    if not files:
        parser.error(f"no file in {args.folder} matches {args.files}")
    if args.rows < 1:
        parser.error(f"--rows must be at least 1, got {args.rows}")
    args.out.mkdir(parents=True, exist_ok=True)
    for source in files:
        copy = args.out / source.name
        kept, total = thin_out(source, copy, args.rows)
        print(f"{copy.name}: {kept} of {total} rows, {copy.stat().st_size / 1e6:.2f} MB")


def thin_out(source: Path, copy: Path, rows: int) -> tuple[int, int]:
    """Writes the copy of one file. Returns the numbers of rows of the copy and of the original."""
    with np.load(source, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    meta = json.loads(str(arrays.pop("meta")))
    total = len(arrays["segment"])
    kept = _representatives(np.column_stack([arrays["segment"], arrays["events"]]), rows)
    arrays = {name: array[kept] if _is_column(name, array, total) else array for name, array in arrays.items()}
    meta["subset"] = {"rows": len(kept), "of": total, "rows_per_segment_and_events": rows}
    np.savez_compressed(copy, **arrays, meta=np.array(json.dumps(meta, sort_keys=True)))
    return len(kept), total


def _representatives(labels: np.ndarray, rows: int) -> np.ndarray:
    """Returns the indices of at most `rows` evenly spaced rows of each distinct label, in order."""
    _, classes = np.unique(labels, axis=0, return_inverse=True)
    members = [np.flatnonzero(classes.ravel() == i) for i in range(classes.max() + 1)]
    even = [m[np.linspace(0, len(m) - 1, min(rows, len(m))).round().astype(int)] for m in members]
    return np.sort(np.concatenate(even))


def _is_column(name: str, array: np.ndarray, total: int) -> bool:
    return array.shape[:1] == (total,) and not name.startswith(("reset", "constant."))


if __name__ == "__main__":
    main()
