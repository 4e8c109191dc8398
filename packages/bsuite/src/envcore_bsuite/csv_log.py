"""bsuite's logs: one CSV file per id, with a row at 1, 1.2, 1.4, 1.7, 2, 2.5, 3, 4, ..., 10 times 10^n episodes.

Original: bsuite 0.3.6 `logging/csv_logging.py` and `utils/wrappers.py`. Files are named and formatted as there, so that
the official analysis reads them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from envcore.files import replace
from envcore_runs.records import File

from envcore_bsuite.errors import RunError

COLUMNS = ("steps", "episode", "total_return", "episode_len", "episode_return")
"""The columns of every file; those of the environment's `bsuite_info` follow."""

PREFIX = "bsuite_id_-_"
"""The beginning of every file's name."""

Row = Mapping[str, int | float]

_TENTHS = (10, 12, 14, 17, 20, 25, 30, 40, 50, 60, 70, 80, 90)
# bsuite starts these sums of floats at the integer 0, so it writes an integer until one is above 0.
_INTEGER_ZEROS = {"deep_sea": "denoised_return", "memory": "total_regret", "umbrella": "total_regret"}


def logged_episodes(num_episodes: int) -> tuple[int, ...]:
    """The episodes after which a row is written, up to and including `num_episodes`."""
    numbers = {
        tenths * 10**power // 10
        for power in range(len(str(num_episodes)))
        for tenths in _TENTHS
        if tenths * 10**power % 10 == 0
    }
    return tuple(sorted(number for number in numbers if number <= num_episodes))


def path_of(folder: Path, bsuite_id: str) -> Path:
    """The file of an id such as "deep_sea/11"."""
    return folder / f"{PREFIX}{bsuite_id.replace('/', '-')}.csv"


def write(folder: Path, bsuite_id: str, rows: Sequence[Row]) -> None:
    """Writes all rows of an id so far. If the process is killed, the old file or the new one remains."""
    integer_zero = next((name for start, name in _INTEGER_ZEROS.items() if bsuite_id.startswith(start)), "")
    if integer_zero and all(row[integer_zero] == 0 for row in rows):
        rows = [{**row, integer_zero: 0} for row in rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)  # floats by `repr`, as pandas writes them
    replace(path_of(folder, bsuite_id), text.getvalue().encode())


def last_episode(folder: Path, bsuite_id: str) -> int:
    """The episode of a file's last row; 0 if there is no file.

    Raises:
      RunError: the file is not one that `write` wrote.
    """
    path = path_of(folder, bsuite_id)
    if not path.exists():
        return 0
    file = File(path, "Delete it to play its setting again.", RunError)
    try:
        found = list(csv.DictReader(io.StringIO(file.content().decode(), newline=""), strict=True))
        rows = [{name: float(value) for name, value in row.items()} for row in found]
    except (csv.Error, TypeError, ValueError) as error:  # a row may have fewer or more values than there are columns
        raise file.damaged(f"it is not a table of numbers: {error}") from error
    if fault := fault_of(rows) if rows else "no rows":
        raise file.damaged(f"it has {fault}")
    return int(rows[-1]["episode"])


def fault_of(rows: Sequence[Row]) -> str:
    """What the rows have that the first rows of a log do not have; "" if nothing."""
    for row in rows:
        if row.keys() != rows[0].keys() or tuple(row)[: len(COLUMNS)] != COLUMNS:
            return f"a row without the columns {', '.join(COLUMNS)} and those of the first row"
    last = rows[-1]["episode"] if rows else 0
    if not 0 <= last < 2**31 or tuple(row["episode"] for row in rows) != logged_episodes(int(last)):
        return "rows of other episodes than those that are logged"
    return ""
