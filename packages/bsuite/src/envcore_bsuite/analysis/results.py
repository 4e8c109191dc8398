"""Reads an agent's logs of bsuite's experiments.

Original: bsuite 0.3.6 `logging/csv_load.py` and `logging/logging_utils.py`, Osband et al. (2020), "Behaviour suite for
reinforcement learning".

A folder contains the logs of one agent, one CSV file per id, such as `bsuite_id_-_deep_sea-11.csv` for "deep_sea/11". A
row is written at the end of an episode: `episode` is the number of finished episodes, and columns such as
`total_regret` are sums over all of them.

Deviations: the logs are in the order of `sweep.SWEEP`, but bsuite's order depends on the file system. A log with an
unknown id is an error, but bsuite skips it.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from envcore.errors import one_line

from envcore_bsuite.errors import ResultsError
from envcore_bsuite.sweep import SETTINGS, SWEEP, log_path


def load_results(folder: str | Path) -> pd.DataFrame:
    """Reads all logs of one agent.

    Args:
      folder: the folder of the logs. Other files in it are ignored.

    Returns:
      The rows of all logs, id by id in the order of `sweep.SWEEP`. The columns are those of the logs, with nan where a
      log doesn't have the column, then `bsuite_id`, `bsuite_env` (the experiment's name) and the id's settings by name.

    Raises:
      ResultsError: the folder does not exist or has no logs, or a log is empty, unreadable or has an unknown id.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ResultsError(f"{folder} is not a folder. Pass the folder with an agent's logs")
    paths = {bsuite_id: log_path(folder, bsuite_id) for bsuite_id in SWEEP}
    if unknown := sorted(path.name for path in set(folder.glob("bsuite_id_-_*.csv")) - set(paths.values())):
        raise ResultsError(f"{', '.join(unknown)}: no such id in bsuite's sweep, from {SWEEP[0]} to {SWEEP[-1]}")
    logs = [_load_log(path).assign(bsuite_id=bsuite_id) for bsuite_id, path in paths.items() if path.is_file()]
    if not logs:
        raise ResultsError(f"{folder} holds no logs. Their names are like {paths[SWEEP[0]].name}")
    settings = [{"bsuite_id": each, "bsuite_env": each.partition("/")[0], **SETTINGS[each]} for each in SWEEP]
    by_id = pd.DataFrame(settings)
    return pd.concat(logs).drop(columns=by_id.columns[1:], errors="ignore").merge(by_id, how="left", on="bsuite_id")


def _load_log(path: Path) -> pd.DataFrame:
    try:
        log = pd.read_csv(path, low_memory=False)  # not in chunks, so that each column has one dtype
    except Exception as error:  # from the file system, pandas, its C parser or a codec
        raise ResultsError(f"{path} is not a readable CSV file: {one_line(error)}") from error
    if not isinstance(log.index, pd.RangeIndex):
        raise ResultsError(f"{path} is not a readable CSV file: its rows have more values than there are columns")
    if log.empty:
        raise ResultsError(f"{path} has no rows. A log gets its first row when an episode ends")
    return log
