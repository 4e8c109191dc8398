"""Training as tasks of a cluster: over environments, settings and seeds, each run in a folder of its own.

    runs = plan("ppo", ["CartPole-v1", "Acrobot-v1"], {"learning_rate": [1e-3, 3e-3]}, seeds=5)
    train(runs, "results", RayWorkers())

A run trains in a temporary folder of its node. Its checkpoint and its results come to this machine, into a folder like
that of `envcore train`.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from envcore.checks import positive_integer
from envcore.errors import FileError, InvalidArgumentError
from envcore.files import replace
from envcore.random import key_of
from envcore_baselines import algorithms
from envcore_baselines.curve import Curve
from envcore_baselines.training import CHECKPOINT, CURVE_CSV, CURVE_PNG, METRICS_CSV, Run, Training, saved_curve
from envcore_runs.choice import choose
from envcore_runs.folder import RUN, locked
from envcore_runs.records import File

from envcore_ray.errors import TasksFailedError
from envcore_ray.workers import RayWorkers

_FILES = (RUN, CURVE_CSV, METRICS_CSV, CHECKPOINT, CURVE_PNG)
"""In the order of writing: what a checkpoint counts is there, and a picture is that of a finished run."""

_MOST_RUNS = 10_000
"""Of a sweep: each has a folder, and is planned before the first begins."""

Files = dict[str, bytes]
"""The files of a run's folder, by name."""


class Trained(NamedTuple):
    """What a run reports.

    Attributes:
      part: of the training that is done, from 0 to 1.
      last_return: mean over the agents of the last point of their curves; NaN before the first episode has ended.
      files: at the end, the folder's.
    """

    part: float
    last_return: float
    files: Files | None = None


@dataclasses.dataclass(frozen=True)
class Train:
    """Trains the agents of a run; see `envcore_ray.workers.Task`."""

    run: Run

    def __call__(self, state: Files | None) -> Iterator[tuple[Trained, Callable[[], Files]]]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for file, content in (state or {}).items():
                replace(folder / file, content)
            with self.run.claimed(folder):  # which adds run.json
                training = Training(self.run.learner(*self.run.make()), self.run, folder)

            def files() -> Files:
                return {path.name: File(path).content() for path in folder.iterdir()}

            def saved() -> Files:
                training.save()
                return files()

            while not training.is_finished:
                training.advance()
                yield Trained(len(training.curve) / training.num_points, training.curve.last), saved
            tables = _tables(self.run, training.curve)
            yield Trained(1.0, training.curve.last, {**files(), **tables, CURVE_PNG: training.picture()}), saved


@dataclasses.dataclass(frozen=True)
class TrainTask:
    """A run, and the files with which it begins."""

    play: Train
    state: Files | None


def plan(
    algorithm: str,
    env_ids: Iterable[str],
    varied: Mapping[str, Sequence[Any]] | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
    seeds: int = 1,
    seeds_per_run: int | None = None,
) -> dict[str, Run]:
    """The runs of a sweep by name, which is the name of their folder.

    Args:
      algorithm: as for `envcore train`.
      env_ids: the environments.
      varied: values of settings; every combination is a run.
      settings: settings of all runs.
      seed: of the first agent; the others have the next ones.
      seeds: number of agents for each environment and combination.
      seeds_per_run: how many of them are trained side by side in one task; by default all.

    Raises:
      InvalidArgumentError: the seed is not an integer from 0 to 2**63 - 1, another number is not a positive integer or
        is too large, there are more than 10,000 runs, or two have the same name.
      ConfigError: there is no such algorithm or setting, or a value is invalid.
      UnknownEnvironmentError: as for `envcore.make`.
    """
    _ = key_of(seed)
    seed = int(seed)  # numpy's cannot be written as JSON
    seeds = positive_integer("seeds", seeds, InvalidArgumentError)
    each = seeds if seeds_per_run is None else positive_integer("seeds_per_run", seeds_per_run, InvalidArgumentError)
    varied, env_ids = varied or {}, list(dict.fromkeys(env_ids))
    positive_integer(
        "the number of agents of a run", min(each, seeds), InvalidArgumentError, at_most=algorithms.MAX_AGENTS
    )
    num_runs = len(env_ids) * math.prod(map(len, varied.values())) * -(-seeds // each)
    if num_runs > _MOST_RUNS:
        raise InvalidArgumentError(f"a sweep can have {_MOST_RUNS:,} runs, this one has {num_runs:,}.")
    runs: dict[str, Run] = {}
    for env_id, values in itertools.product(env_ids, itertools.product(*varied.values())):
        chosen = dict(zip(varied, values, strict=True))
        config = algorithms.config(algorithm, choose(env_id).found.spec.id, {**(settings or {}), **chosen})
        for first in range(0, seeds, each):
            number = min(each, seeds - first)
            run = Run(algorithm, env_id, {}, {}, dataclasses.asdict(config), seed + first, number)
            parts = [algorithm, env_id, *(f"{name}={value}" for name, value in chosen.items())]
            if each < seeds:
                parts.append(f"seed={seed + first}")
            name = re.sub(r"[^\w.=+-]+", "-", "-".join(parts))
            if name in runs:
                raise InvalidArgumentError(f"two runs of the sweep have the same folder, {name}: are two values equal?")
            runs[name] = run
    return runs


def train(
    runs: Mapping[str, Run],
    out: str | Path,
    workers: RayWorkers,
    *,
    checkpoint_seconds: float = 30.0,
    progress: Callable[[float], None] | None = None,
) -> dict[str, float]:
    """Trains the agents of all runs, and writes a folder for each. What an interrupted call has done is not done again.

    Args:
      runs: by the name of their folder; see `plan`.
      out: the folder that contains them.
      workers: what trains them.
      checkpoint_seconds: how often a run is saved.
      progress: is called with how many runs are done, where one that is half done counts a half.

    Returns:
      The last mean return of each run.

    Raises:
      ConfigError: the settings of a run do not fit its environment.
      FileError: a folder holds another run or other files, another process is writing there, a checkpoint is damaged,
        or a file cannot be written.
      ClusterError, TasksFailedError: as for `RayWorkers.run`.
    """
    for run in runs.values():
        run.learner(*run.make())  # before a folder is made: the settings may not fit the environment
        _ = run.keys
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot create {out}: {error.strerror or error}.") from error
    with locked(Path(out)):
        return _train(runs, Path(out), workers, checkpoint_seconds, progress or (lambda done: None))


def _train(
    runs: Mapping[str, Run],
    out: Path,
    workers: RayWorkers,
    checkpoint_seconds: float,
    progress: Callable[[float], None],
) -> dict[str, float]:
    folders = {name: out / name for name in runs}
    tasks: dict[str, TrainTask] = {}
    parts, returns = dict.fromkeys(runs, 0.0), dict.fromkeys(runs, math.nan)
    for name, run in runs.items():
        with run.claimed(folders[name]):  # not for longer: a lock is an open file, and a sweep has many runs
            pass
        files = [folders[name] / file for file in _FILES if (folders[name] / file).exists()]
        if folders[name] / CHECKPOINT in files:
            curve = saved_curve(run, folders[name])
            returns[name] = curve.last
            for file, content in _tables(run, curve).items():
                _rewrite(folders[name] / file, content)
        if folders[name] / CURVE_PNG in files:
            parts[name] = 1.0
        else:
            # The curve's tables are made of the checkpoint, and never read.
            sent = {path.name: File(path).content() for path in files if path.suffix != ".csv"}
            tasks[name] = TrainTask(Train(run), sent)
    progress(sum(parts.values()))

    def handle(name: str, update: Trained, state: Files | None) -> None:
        files = update.files or state or {}
        for file in [file for file in _FILES if file in files]:
            replace(folders[name] / file, files[file])
        parts[name], returns[name] = update.part, update.last_return
        progress(sum(parts.values()))

    try:
        workers.run(tasks, checkpoint_seconds, handle, lambda name: None)
    except TasksFailedError as error:
        error.returns = returns
        raise
    return returns


def _tables(run: Run, curve: Curve) -> Files:
    return {
        CURVE_CSV: curve.to_csv(run.names).encode(),
        METRICS_CSV: curve.metrics_to_csv(run.names).encode(),
    }


def _rewrite(path: Path, content: bytes) -> None:
    """Writes a file that does not have this content."""
    if not path.exists() or File(path).content() != content:
        replace(path, content)
