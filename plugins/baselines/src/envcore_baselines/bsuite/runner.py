"""Runs an agent on bsuite's settings, one compiled program after another, and writes bsuite's logs.

There is one CSV file per setting, with a row after episodes 1, 2, 3, ..., 10, 12, 14, 17, 20, 25, 30, ... File names
and format match bsuite 0.3.6 (`logging/csv_logging.py` and `utils/wrappers.py`), so the official analysis can read
them.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np
from envcore import suggestions
from envcore.errors import InvalidArgumentError
from envcore.files import replace
from envcore.random import key_of
from envcore_bsuite.sweep import EPISODES, EXPERIMENTS, SWEEP, log_path
from envcore_runs import checkpoint, memory, signals
from envcore_runs.description import described, name_of
from envcore_runs.folder import CHECKPOINT, claimed

from envcore_baselines.bsuite.agents import MakeAgent
from envcore_baselines.bsuite.program import Lanes, LaneState, Program, Row, lanes_of, row_of

_SAVING = 60.0  # seconds between checkpoints
_CHUNK_SECONDS = 0.5  # per call of the program, which signals cannot interrupt
_TENTHS = (10, 12, 14, 17, 20, 25, 30, 40, 50, 60, 70, 80, 90)


def run(
    make_agent: MakeAgent,
    results_dir: str | Path,
    ids: Iterable[str] = SWEEP,
    *,
    seed: int = 0,
    options: Mapping[str, Mapping[str, object]] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Runs an agent on settings of bsuite, each for its number of episodes, and writes a log of each.

    Settings with the same shapes run side by side in one program until all of them have finished. Then the next program
    starts. A checkpoint is saved every minute. To continue an interrupted run, repeat the call. It finishes the
    interrupted program and skips finished settings.

    Args:
      make_agent: `make_agent(env) -> Agent`, such as `random_agent`.
      results_dir: folder for the logs, created if it does not exist. Use one folder per agent and seed. You can add
        settings to it later.
      ids: settings, such as "deep_sea/11", or whole experiments, such as "deep_sea". By default all 468 settings.
      seed: seed of all randomness. The results of a setting do not depend on the other settings.
      options: additional environment options by experiment, for example `{"mnist": {"signed_pixels": True}}`.
      progress: called with the number of episodes played so far and the total number.

    Raises:
      InvalidArgumentError: an id or an experiment is unknown, or the seed or an option is invalid.
      ConfigError: `make_agent` does not return an `Agent`, or the types in the agent's state change.
      KeyboardInterrupt, SystemExit: you pressed Ctrl-C, or SIGTERM arrived. The run is saved.
      NotEnoughMemoryError: the settings do not fit into memory side by side.
      FileError: the folder contains another run, another process is writing to it, its checkpoint is damaged or does
        not fit the agent, or a file cannot be written. Existing files are not changed.
    """
    wanted, key, options = _checked_ids(ids), key_of(seed), dict(options or {})
    if unknown := options.keys() - EXPERIMENTS.keys():
        raise InvalidArgumentError(f"options: bsuite has no experiment {unknown.pop()!r}.")
    folder, show = Path(results_dir).absolute(), progress or (lambda played, total: None)
    about = {"agent": name_of(make_agent), "seed": int(seed), "options": described(options)}
    with claimed(folder, about), memory.explained("this agent", "Choose fewer settings at once, in a new folder."):
        path = folder / CHECKPOINT
        first = checkpoint.load(path, _Saved)[1].ids if path.exists() else []
        finished = {each for each in wanted if each not in first and _is_finished(folder, each)}
        rest = [each for each in wanted if each not in first and each not in finished]
        total = sum(EPISODES[each] for each in {*first, *wanted})
        played = sum(EPISODES[each] for each in finished)
        for lanes in [*lanes_of(first, options), *lanes_of(rest, options)]:
            program = Program(lanes, make_agent)
            _play(folder, lanes, program, key, lambda more, before=played: show(before + more, total))
            played += sum(EPISODES[each] for each in lanes.ids)
            path.unlink()


@dataclasses.dataclass(frozen=True)
class _Saved:
    """The metadata in a checkpoint: the settings of its program, and the rows of their logs."""

    ids: list[str]
    rows: list[list[dict[str, Any]]]


def _play(folder: Path, lanes: Lanes, program: Program, key: jax.Array, show: Callable[[int], None]) -> None:
    """Plays lanes until all have finished. Saves regularly, on a signal, and at the end."""
    state, rows = program.start(key), [list[Row]() for _ in lanes.ids]
    if (path := folder / CHECKPOINT).exists():  # of these lanes, because checkpoints of finished programs are removed
        tensors, saved_then = checkpoint.load(path, _Saved)
        state, rows = checkpoint.restore(path, tensors, state), saved_then.rows
        del tensors  # frees memory, as much as the state needs
    num_episodes = EPISODES[lanes.ids[0]]
    schedule = (*logged_episodes(num_episodes), 0)
    chunk, steps, saved = 16, int(state.steps[0]), time.monotonic()
    with signals.noted() as signum:
        while any(awaited := [schedule[len(each)] for each in rows]) and not signum():
            start = time.perf_counter()
            state, *last = program.advance(state, np.array(awaited), chunk)
            done, row = jax.device_get(last)
            for lane in np.flatnonzero(done & (row["episode"] == awaited)).tolist():
                rows[lane].append(row_of(row, lane))
            show(int(np.minimum(row["episode"], num_episodes).sum()))
            taken, steps = int(row["steps"][0]) - steps, int(row["steps"][0])
            chunk = max(int(taken * _CHUNK_SECONDS / (time.perf_counter() - start)), 1)
            if time.monotonic() - saved > _SAVING:
                _save(folder, lanes, state, rows)
                saved = time.monotonic()
        _save(folder, lanes, state, rows)
    if signum():
        signals.stop(signum())


def _save(folder: Path, lanes: Lanes, state: LaneState, rows: list[list[Row]]) -> None:
    """Writes the checkpoint, then the logs, so that every row in the logs is also in the checkpoint."""
    checkpoint.save(folder / CHECKPOINT, state, dataclasses.asdict(_Saved(list(lanes.ids), rows)))
    for bsuite_id, each in zip(lanes.ids, rows, strict=True):
        if each:
            write_log(folder, bsuite_id, each)


def logged_episodes(num_episodes: int) -> list[int]:
    """The episodes after which a row is logged, up to and including `num_episodes`."""
    numbers = [tenths * 10**power for power in range(len(str(num_episodes))) for tenths in _TENTHS]
    return [number // 10 for number in numbers if number % 10 == 0 and number <= 10 * num_episodes]


def write_log(folder: Path, bsuite_id: str, rows: list[Row]) -> None:
    """Writes all rows of a setting so far. If the process is killed, the old file or the new one remains."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)  # floats by `repr`, like pandas
    replace(log_path(folder, bsuite_id), text.getvalue().encode())


def _is_finished(folder: Path, bsuite_id: str) -> bool:
    path = log_path(folder, bsuite_id)
    return path.exists() and path.read_text().count("\n") > len(logged_episodes(EPISODES[bsuite_id]))


def _checked_ids(names: Iterable[str]) -> list[str]:
    """Expands names of settings and experiments to a list of settings."""
    found: list[str] = []
    for name in [names] if isinstance(names, str) else names:
        plain = str(name).removeprefix("bsuite/")
        if plain not in EXPERIMENTS and plain not in EPISODES:
            meant = suggestions.hint(plain, [*EXPERIMENTS, *EPISODES]) or " All ids: envcore_bsuite.sweep.SWEEP."
            raise InvalidArgumentError(f"bsuite has no experiment or setting {name!r}.{meant}")
        found += EXPERIMENTS[plain].ids if plain in EXPERIMENTS else [plain]
    return list(dict.fromkeys(found))
