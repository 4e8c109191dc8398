"""Runs an agent on bsuite's experiments, in compiled programs, and writes bsuite's logs.

    from envcore_bsuite.agents import random_agent
    from envcore_bsuite.runner import run

    run(random_agent, "results/random")

All settings of an experiment that have the same shapes run side by side in one program; when half of them have
finished, a smaller program continues with the others. An interrupted run that is started again continues where it
stopped, with the same results.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import operator
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from envcore.files import replace
from envcore.options import positive_integer
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar

from envcore_bsuite import checkpoints, csv_log
from envcore_bsuite.agents import MakeAgent
from envcore_bsuite.checkpoints import Checkpoint
from envcore_bsuite.csv_log import Row
from envcore_bsuite.errors import RunError
from envcore_bsuite.programs import Group, Lane, Program, Progress, group
from envcore_bsuite.sweep import EPISODES, EXPERIMENTS, SWEEP

_MANIFEST = "run.json"
_CHUNK_SECONDS = 0.5
_MAX_CHUNK = 2**20
_WORTH_COMPILING = 100_000  # steps; with fewer, a smaller program takes longer to compile than it saves


def run(
    make_agent: MakeAgent,
    results_dir: str | Path,
    ids: Iterable[str] = SWEEP,
    *,
    seed: int = 0,
    num_seeds: int = 1,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    workers: int = 1,
    checkpoint_seconds: float = 60.0,
    show_progress: bool = True,
) -> None:
    """Runs an agent on settings of bsuite, each for its number of episodes, and writes a log of each.

    Args:
      make_agent: `make_agent(env) -> Agent`, such as `random_agent`.
      results_dir: the folder for the logs, created if it does not exist; with several seeds they are in its subfolders
        `seed_0`, `seed_1`, ... If it holds part of the same run, only the rest is run.
      ids: the settings, such as "deep_sea/11"; by default all 468.
      seed: the seed of all randomness. The results of an id depend on it and on the number of the repetition, not on
        the other ids.
      num_seeds: independent repetitions of every id.
      options: more options of environments, by experiment, for example `{"mnist": {"signed_pixels": True}}`.
      workers: the number of programs that run at the same time, each in a thread.
      checkpoint_seconds: how often a running program is saved.
      show_progress: shows a progress bar of episodes on the terminal.

    Raises:
      RunError: an id is unknown, a number is out of range, or the folder holds something else.
      FileError: a file cannot be written; what it held before stays.
    """
    wanted = _checked_ids(ids)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise RunError(f"seed must be an integer of at least 0, got {seed!r}.")
    num_seeds = positive_integer("num_seeds", num_seeds, RunError)
    workers = positive_integer("workers", workers, RunError)
    folder = Path(results_dir)
    options = {name: dict(values) for name, values in (options or {}).items()}
    _check_options(options)
    _claim(folder, {"seed": int(seed), "num_seeds": int(num_seeds), "options": options})
    lanes = [Lane(bsuite_id, repeat) for bsuite_id in wanted for repeat in range(num_seeds)]
    columns = (TextColumn("bsuite"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(elapsed_when_finished=True))
    with ProgressBar(*columns, disable=not show_progress) as bar:
        episodes = bar.add_task("episodes", total=sum(EPISODES[lane.bsuite_id] for lane in lanes))
        _Run(
            make_agent=make_agent,
            key=jax.random.key(seed),
            folder=folder,
            log_folders=[folder / f"seed_{number}" for number in range(num_seeds)] if num_seeds > 1 else [folder],
            options=options,
            checkpoint_seconds=checkpoint_seconds,
            count_episodes=lambda number: bar.advance(episodes, number),
        ).complete(lanes, workers)


@dataclasses.dataclass(frozen=True)
class _Run:
    """What all programs of a run share."""

    make_agent: MakeAgent
    key: jax.Array
    folder: Path
    log_folders: Sequence[Path]
    options: Mapping[str, Mapping[str, Any]]
    checkpoint_seconds: float
    count_episodes: Callable[[int], None]
    stopped: threading.Event = dataclasses.field(default_factory=threading.Event)

    def complete(self, lanes: Sequence[Lane], workers: int) -> None:
        """Plays the unfinished lanes, the interrupted ones first."""
        for each in self.log_folders:
            each.mkdir(exist_ok=True)
        saved = [each for each in checkpoints.load_all(self.folder) if set(each.lanes) <= set(lanes)]
        resumed = {lane for each in saved for lane in each.lanes}
        fresh = [lane for lane in lanes if lane not in resumed and not self._is_finished(lane)]
        self.count_episodes(sum(EPISODES[lane.bsuite_id] for lane in set(lanes) - resumed - set(fresh)))
        tasks: list[tuple[Group, Checkpoint | None]] = [(group(each.lanes, self.options)[0], each) for each in saved]
        tasks += [(each, None) for each in group(fresh, self.options)]
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(self._play, *task) for task in tasks]
            try:
                for future in concurrent.futures.as_completed(futures):
                    future.result()
            except BaseException:
                self.stopped.set()  # the other programs save their progress
                pool.shutdown(cancel_futures=True)
                raise

    def _is_finished(self, lane: Lane) -> bool:
        return csv_log.last_episode(self.log_folders[lane.repeat], lane.bsuite_id) >= EPISODES[lane.bsuite_id]

    def _play(self, members: Group, saved: Checkpoint | None) -> None:
        """Plays a group to its end, or until the run is stopped."""
        if self.stopped.is_set():
            return
        path = checkpoints.path_of(self.folder, members.lanes) if saved is None else saved.path
        program = Program(members, self.make_agent)
        progress = program.start(self.key)
        rows: list[list[Row]] = [[] for _ in members.lanes]
        if saved is not None:
            progress, rows = saved.restore(progress), saved.rows
        schedule = (*csv_log.logged_episodes(members.num_episodes), 0)
        counted = self._played(members, progress)
        self.count_episodes(counted)
        chunk, last_save = 16, time.monotonic()
        while True:
            awaited = np.array([schedule[len(lane_rows)] for lane_rows in rows], np.int32)
            if not awaited.any():
                break
            unfinished = np.flatnonzero(awaited)
            if 2 * len(unfinished) <= len(awaited) and progress.steps[0] >= _WORTH_COMPILING:
                (members,) = group([members.lanes[number] for number in unfinished], self.options)
                program = Program(members, self.make_agent)
                progress = jax.tree.map(operator.itemgetter(unfinished), progress)
                rows, awaited = [rows[number] for number in unfinished], awaited[unfinished]
                counted = self._played(members, progress)
            start = time.monotonic()
            progress, ended = program.advance(progress, awaited, chunk)
            counts = dataclasses.replace(progress, key=None, env_state=None, agent_state=None)
            host, ended = jax.device_get((counts, ended))
            for number in np.flatnonzero(ended.done & (host.episode == awaited)).tolist():
                rows[number].append(program.row(host, ended, number))
                lane = members.lanes[number]
                csv_log.write(self.log_folders[lane.repeat], lane.bsuite_id, rows[number])
            before, counted, now = counted, self._played(members, host), time.monotonic()
            self.count_episodes(counted - before)
            if now - start < _CHUNK_SECONDS / 2:
                chunk = min(chunk * 2, _MAX_CHUNK)
            elif now - start > _CHUNK_SECONDS:
                chunk = max(chunk // 2, 1)
            if self.stopped.is_set() or now - last_save >= self.checkpoint_seconds:
                checkpoints.save(path, members.lanes, rows, progress)
                last_save = now
            if self.stopped.is_set():
                return
        path.unlink(missing_ok=True)

    def _played(self, members: Group, progress: Progress) -> int:
        """The number of episodes of the group that have been played and count."""
        return int(np.minimum(jax.device_get(progress.episode), members.num_episodes).sum())


def _checked_ids(ids: Iterable[str]) -> list[str]:
    names = [ids] if isinstance(ids, str) else list(ids)
    names = [name.removeprefix("bsuite/") if isinstance(name, str) else name for name in names]
    for name in names:
        if name not in EPISODES:
            raise RunError(
                f"bsuite has no setting {name!r}: an id is like 'deep_sea/11'; envcore_bsuite.sweep lists them "
                "by experiment (EXPERIMENTS['deep_sea'].ids) and by tag (TAGS['memory'])."
            )
    return list(dict.fromkeys(names))


def _check_options(options: Mapping[str, Any]) -> None:
    for name in options:
        if name not in EXPERIMENTS:
            raise RunError(f"options are given by experiment, and bsuite has no experiment {name!r}.")


def _claim(folder: Path, manifest: dict[str, Any]) -> None:
    """Records in the folder which run it holds, or checks that it is this one."""
    path = folder / _MANIFEST
    if path.exists():
        try:
            found = json.loads(path.read_text())
        except ValueError as error:
            raise RunError(f"{path} is damaged: choose another results_dir, or delete it.") from error
        different = [name for name in manifest if found.get(name) != json.loads(json.dumps(manifest[name]))]
        if different:
            name = different[0]
            raise RunError(
                f"{folder} holds a run with {name}={found.get(name)!r}, not {manifest[name]!r}: choose another "
                "results_dir, or delete it."
            )
        return
    if folder.exists() and any(folder.glob(f"{csv_log.PREFIX}*.csv")):
        raise RunError(f"{folder} holds logs that this runner did not write: choose another results_dir.")
    try:
        content = json.dumps(manifest, indent=2)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"results_dir {folder} cannot be written to: {error}.") from error
    except TypeError as error:
        raise RunError(f"options must be JSON values, such as numbers and strings: {error}.") from error
    replace(path, content.encode())
