"""Runs an agent on bsuite's experiments, in compiled programs, and writes bsuite's logs. Needs envcore-bsuite[runner].

    from envcore_bsuite.agents import random_agent
    from envcore_bsuite.runner import run

    run(random_agent, "results/random")

All settings of an experiment that have the same shapes run side by side in one program; when half of them have
finished, a smaller program continues with the others. An interrupted run that is started again continues where it
stopped, with the same results.
"""

from __future__ import annotations

import contextlib
import functools
import json
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from envcore.checks import positive_integer
from envcore.files import remove_unfinished, replace
from envcore_runs.folder import locked
from envcore_runs.records import File

from envcore_bsuite import checkpoints, csv_log
from envcore_bsuite.agents import MakeAgent
from envcore_bsuite.errors import RunError
from envcore_bsuite.playing import Play, Update
from envcore_bsuite.programs import Lane, Program, group
from envcore_bsuite.sweep import EPISODES, EXPERIMENTS, SWEEP
from envcore_bsuite.workers import Task, Threads, Workers

_MANIFEST = "run.json"
_MOST_SEEDS = 10_000  # a folder each


def run(
    make_agent: MakeAgent,
    results_dir: str | Path,
    ids: Iterable[str] = SWEEP,
    *,
    seed: int = 0,
    num_seeds: int = 1,
    options: Mapping[str, Mapping[str, object]] | None = None,
    workers: int | Workers = 1,
    checkpoint_seconds: float = 60.0,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Runs an agent on settings of bsuite, each for its number of episodes, and writes a log of each.

    Args:
      make_agent: `make_agent(env) -> Agent`, such as `random_agent`.
      results_dir: the folder for the logs, created if it does not exist; with several seeds they are in its subfolders
        `seed_0`, `seed_1`, ... If it holds part of the same run, by an agent of the same name, only the rest is run.
      ids: the settings, such as "deep_sea/11"; by default all 468.
      seed: the seed of all randomness. The results of an id depend on it and on the number of the repetition, not on
        the other ids.
      num_seeds: independent repetitions of every id.
      options: more options of environments, by experiment, for example `{"mnist": {"signed_pixels": True}}`.
      workers: the number of programs that run at the same time, each in a thread; or what plays them elsewhere, such as
        envcore-ray's `RayWorkers`.
      checkpoint_seconds: how often a running program is saved.
      progress: is called with how many episodes have been played, and how many there are.

    Raises:
      RunError: an id is unknown, a number is out of range, or the folder holds something else.
      FileError: another process is writing to the folder, or a file cannot be written; what it held before stays.
    """
    wanted = _checked_ids(ids)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**63:
        raise RunError(f"seed must be an integer from 0 to 2**63 - 1, got {seed!r}.")
    num_seeds = positive_integer("num_seeds", num_seeds, RunError, at_most=_MOST_SEEDS)
    if not isinstance(workers, Workers):
        workers = Threads(workers)
    folder = Path(results_dir)
    options = {name: dict(values) for name, values in (options or {}).items()}
    _check_options(options)
    agent = _name_of(make_agent)
    if wanted and not (folder / _MANIFEST).exists():
        # Where `make_agent` fails, it fails before the folder is claimed.
        Program(group([Lane(wanted[0], 0)], options)[0], make_agent)
    manifest = {"agent": agent, "seed": int(seed), "num_seeds": int(num_seeds), "options": options}
    lanes = [Lane(bsuite_id, repeat) for bsuite_id in wanted for repeat in range(num_seeds)]
    total, show = sum(EPISODES[lane.bsuite_id] for lane in lanes), progress or (lambda played, total: None)
    with _claimed(folder, manifest):
        written = _Written(folder, num_seeds, lambda played: show(played, total))
        tasks = written.tasks(lanes, options, functools.partial(Play, make_agent, int(seed), options))
        workers.run(tasks, checkpoint_seconds, written.handle, written.finish)


class _Written:
    """The files of a run: logs, and checkpoints of what is not finished."""

    def __init__(self, folder: Path, num_seeds: int, show_episodes: Callable[[int], None]):
        self._folder, self._show_episodes = folder, show_episodes
        self._log_folders = [folder / f"seed_{number}" for number in range(num_seeds)] if num_seeds > 1 else [folder]
        self._checkpoints: dict[str, Path] = {}  # by the name of the task
        self._episodes: dict[Lane, int] = {}
        self._lock = threading.Lock()

    def tasks(
        self,
        lanes: Sequence[Lane],
        options: Mapping[str, Mapping[str, object]],
        play: Callable[[tuple[Lane, ...], Path], Play],
    ) -> dict[str, Task]:
        """What is left to do, by name; the interrupted tasks come first."""
        for each in {self._folder, *self._log_folders}:
            each.mkdir(exist_ok=True)
            remove_unfinished(each)
        found: dict[str, Task] = {}

        def add(members: tuple[Lane, ...], path: Path, state: bytes | None) -> None:
            name = _name(members)
            self._checkpoints[name], found[name] = path, Task(play(members, path), state)

        resumed: set[Lane] = set()
        for saved, content in checkpoints.load_all(self._folder):
            # Calls with other ids can have left checkpoints that share lanes: the rest of those begins anew.
            if set(saved.lanes) <= set(lanes) and resumed.isdisjoint(saved.lanes):
                add(saved.lanes, saved.path, content)
                resumed |= set(saved.lanes)
        self._episodes = {lane: EPISODES[lane.bsuite_id] for lane in lanes if self._is_finished(lane)}
        fresh = [lane for lane in lanes if lane not in resumed and lane not in self._episodes]
        for each in group(fresh, options):
            add(each.lanes, checkpoints.path_of(self._folder, each.lanes), None)
        self._show_episodes(sum(self._episodes.values()))
        return found

    def handle(self, name: str, update: Update, state: bytes | None) -> None:
        """Writes the logs that have grown, then the checkpoint: what it counts is there."""
        for lane, rows in update.rows.items():
            csv_log.write(self._log_folders[lane.repeat], lane.bsuite_id, rows)
        if state is not None:
            replace(self._checkpoints[name], state)
        with self._lock:
            self._episodes.update(update.episodes)
            self._show_episodes(sum(self._episodes.values()))

    def finish(self, name: str) -> None:
        """Removes the checkpoint of a task that is done."""
        self._checkpoints[name].unlink(missing_ok=True)

    def _is_finished(self, lane: Lane) -> bool:
        return csv_log.last_episode(self._log_folders[lane.repeat], lane.bsuite_id) >= EPISODES[lane.bsuite_id]


def _name(lanes: Sequence[Lane]) -> str:
    """Names a task by its first lane, which no other one has."""
    first = lanes[0].bsuite_id + (f" (repetition {lanes[0].repeat})" if lanes[0].repeat else "")
    return f"{first} and {len(lanes) - 1} more" if len(lanes) > 1 else first


def _name_of(make_agent: Callable[..., object]) -> str:
    """What a folder calls an agent, `MODULE:FUNCTION`."""
    function = make_agent.func if isinstance(make_agent, functools.partial) else make_agent
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}:{named.__qualname__}"


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


def _check_options(options: Mapping[str, object]) -> None:
    for name in options:
        if name not in EXPERIMENTS:
            raise RunError(f"options are given by experiment, and bsuite has no experiment {name!r}.")


@contextlib.contextmanager
def _claimed(folder: Path, manifest: Mapping[str, object]) -> Generator[None]:
    """Records in the folder which run it holds, or checks that it is this one; and keeps it until the block ends."""
    try:
        content = json.dumps(manifest, indent=2)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"results_dir {folder} cannot be written to: {error}.") from error
    except TypeError as error:
        raise RunError(f"options must be JSON values, such as numbers and strings: {error}.") from error
    path = folder / _MANIFEST
    with locked(folder):
        if path.exists():
            _check_manifest(path, manifest)
        elif any(folder.glob(f"{csv_log.PREFIX}*.csv")):
            raise RunError(f"{folder} holds logs that this runner did not write: choose another results_dir.")
        else:
            replace(path, content.encode())
        yield


def _check_manifest(path: Path, manifest: Mapping[str, object]) -> None:
    found = File(path, "Choose another results_dir, or delete it.", RunError).read(dict[str, Any])
    different = [name for name in manifest if found.get(name) != json.loads(json.dumps(manifest[name]))]
    if different:
        name = different[0]
        raise RunError(
            f"{path.parent} holds a run with {name}={found.get(name)!r}, not {manifest[name]!r}: choose "
            "another results_dir, or delete it."
        )
