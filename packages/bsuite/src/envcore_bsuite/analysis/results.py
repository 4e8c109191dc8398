"""Reads an agent's logs of bsuite's experiments.

Original: bsuite 0.3.6 `logging/csv_load.py` and `logging/logging_utils.py`, Osband et al. (2020), "Behaviour suite for
reinforcement learning".

A folder holds the logs of one agent, one CSV file per id: `bsuite_id_-_deep_sea-11.csv` is that of "deep_sea/11". A row
is written at the end of an episode: `episode` is the number of episodes that have ended, and columns such as
`total_regret` are sums over all of them.

Deviations: the logs are in the order of `sweep.SWEEP`, where bsuite's depends on the file system; a log with an unknown
id, or one that cannot be scored, is an error, where bsuite skips it or fails later.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from envcore.errors import one_line

from envcore_bsuite.errors import ResultsError
from envcore_bsuite.sweep import SETTINGS, SWEEP, log_path

_REGRET, _RETURN = ("total_regret",), ("total_return",)
_SCORED = {
    "bandit": _REGRET,
    "cartpole": ("raw_return", "best_episode"),
    "cartpole_swingup": ("total_return", "best_episode"),
    "catch": _REGRET,
    "deep_sea": ("total_bad_episodes",),
    "deep_sea_stochastic": ("total_bad_episodes",),
    "discounting_chain": _RETURN,
    "memory_len": ("total_perfect",),
    "memory_size": ("total_perfect",),
    "mnist": _REGRET,
    "mountain_car": ("raw_return",),
    "umbrella_distract": _REGRET,
    "umbrella_length": _REGRET,
}


def load_results(folder: str | Path) -> pd.DataFrame:
    """Reads all logs of one agent.

    Args:
      folder: the folder of the logs. Other files in it are ignored, other CSV files with a warning.

    Returns:
      The rows of all logs, id by id in the order of `sweep.SWEEP`: the columns of the logs, nan if a log has no such
      column, then `bsuite_id`, `bsuite_env` (the experiment's name) and the id's settings by their names.

    Raises:
      ResultsError: the folder does not exist or has no logs, or a log is empty, has an unknown id, or lacks numbers in
        a column that its score needs.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ResultsError(f"{folder} is not a folder; give the one that holds an agent's logs")
    paths = {bsuite_id: log_path(folder, bsuite_id) for bsuite_id in SWEEP}
    _check_others(set(folder.glob("*.csv")) - set(paths.values()))
    logs = [_load_log(path, bsuite_id) for bsuite_id, path in paths.items() if path.is_file()]
    if not logs:
        raise ResultsError(f"{folder} holds no logs; their names are like {paths[SWEEP[0]].name}")
    settings = pd.DataFrame([{"bsuite_id": each, "bsuite_env": _experiment(each), **SETTINGS[each]} for each in SWEEP])
    results = pd.concat(logs).drop(columns=settings.columns[1:], errors="ignore")
    return results.merge(settings, how="left", on="bsuite_id")


def family(experiment: str) -> str:
    """The experiment without noise and rescaled rewards: "catch" for "catch", "catch_noise" and "catch_scale"."""
    return experiment.removesuffix("_noise").removesuffix("_scale")


def check_columns(frame: pd.DataFrame, columns: Iterable[str], where: str) -> None:
    """Raises `ResultsError` if one of the columns is missing; `where` says in what."""
    missing = [column for column in columns if column not in frame]
    if missing:
        there = ", ".join(map(str, frame))
        raise ResultsError(f"{where}: no column {', '.join(missing)}; there are {there[:300]}")


def check_rows(rows: pd.DataFrame, experiment: str, where: str) -> None:
    """Raises `ResultsError` if the rows of an experiment lack what its score needs; `where` says which rows."""
    columns = ("episode", *_SCORED[family(experiment)])
    check_columns(rows, columns, where)
    for column in columns:
        is_number = pd.api.types.is_numeric_dtype(rows[column]) and not pd.api.types.is_bool_dtype(rows[column])
        if not is_number or not np.isfinite(rows[column]).all():
            raise ResultsError(f"{where}: not every row has a number in column {column}")
    if not ((rows["episode"] >= 1) & (rows["episode"] % 1 == 0)).all():
        raise ResultsError(f"{where}: not every episode is a positive integer")


def _check_others(paths: set[Path]) -> None:
    unknown = sorted(path.name for path in paths if path.name.startswith("bsuite_id_-_"))
    if unknown:
        raise ResultsError(f"{', '.join(unknown)}: no such id in bsuite's sweep, from {SWEEP[0]} to {SWEEP[-1]}")
    foreign = sorted(path.name for path in paths)
    if foreign:
        warnings.warn(f"not logs of bsuite, ignored: {', '.join(foreign)}", stacklevel=3)


def _load_log(path: Path, bsuite_id: str) -> pd.DataFrame:
    try:
        log = pd.read_csv(path, low_memory=False)  # at once: a column has one dtype
    except Exception as error:  # of the file system, of pandas, of its parser in C, or of a codec
        raise ResultsError(f"{path} is not a readable CSV file: {one_line(error)}") from error
    if not isinstance(log.index, pd.RangeIndex):
        raise ResultsError(f"{path} is not a readable CSV file: its rows have more values than there are columns")
    if log.empty:
        raise ResultsError(f"{path} has no rows; a log gets its first when an episode ends")
    check_rows(log, _experiment(bsuite_id), str(path))
    return log.assign(bsuite_id=bsuite_id)


def _experiment(bsuite_id: str) -> str:
    return bsuite_id.split("/")[0]
