"""A rollout in a folder: after a kill at any moment, the same command continues it, with the same results bit for bit.

The folder holds run.json (what it is the rollout of), statistics.json, checkpoint.safetensors and, if steps are
recorded, `trajectories`. The rollout is cut into chunks whose length depends on the run alone, because float sums
depend on where they are cut.
"""

from __future__ import annotations

import dataclasses
import json
import math
import time
from collections.abc import Mapping
from pathlib import Path

import jax
import numpy as np
from envcore.files import replace

from envcore_runs import checkpoint, distributed, run_folder
from envcore_runs.episode_statistics import EpisodeStatistics
from envcore_runs.measured_rollout import MeasuredRollout, Progress
from envcore_runs.records import File, Natural
from envcore_runs.trajectories import Trajectories

CHECKPOINT, STATISTICS = "checkpoint.safetensors", "statistics.json"

_CHUNK = 2**20
"""Steps of all environments together: about 10 ms of a light environment, below a second of most others."""
_FEWEST = 128
"""Steps of each environment: every chunk brings a summary of each environment to the host."""
_SECONDS = 5.0  # between checkpoints


def chunk_steps(num_envs: int, limit: int) -> int:
    """How many steps each environment takes in a chunk, at most `limit`."""
    return min(max(_CHUNK // num_envs, _FEWEST), limit)


@dataclasses.dataclass(frozen=True)
class _Saved:
    """What a checkpoint says beside its arrays."""

    steps: Natural
    unfinished: Natural
    statistics: EpisodeStatistics

    def __post_init__(self) -> None:
        if not self.statistics.is_possible():
            raise ValueError("has statistics that no episodes have")


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """What a folder holds of an earlier call.

    Attributes:
      path: of the file.
      progress: how far the rollout was.
      tensors: its state.
    """

    path: Path
    progress: Progress
    tensors: Mapping[str, np.ndarray]


def find_checkpoint(folder: Path, steps: int | None, num_envs: int) -> Checkpoint | None:
    """The checkpoint in the folder of a rollout, the same for all processes; None if there is none yet.

    Args:
      folder: of the rollout; `claimed` has found that it is its own.
      steps: of each environment, when it is complete; None where its episodes decide it.
      num_envs: number of environments.

    Raises:
      FileError: the checkpoint is damaged, or not the one that other processes see.
      ProcessError: another process has ended.
    """
    path, found = folder / CHECKPOINT, None
    if path.exists():
        tensors, saved = checkpoint.load(path, _Saved)
        if steps is not None and saved.steps > steps:
            raise File(path).damaged(f"its steps is {saved.steps:,}, of {steps:,}")
        if not saved.statistics.is_possible(saved.steps * num_envs):
            raise File(path).damaged(f"no episodes of {saved.steps:,} steps have its statistics")
        progress = Progress(saved.unfinished, saved.steps, saved.steps, 0.0, saved.statistics)
        found = Checkpoint(path, progress, tensors)
    run_folder.check_agreed(folder, found.progress.steps if found else 0)
    return found


def write_statistics(folder: Path, progress: Progress) -> None:
    """Writes `statistics.json`.

    Raises:
      FileError: it cannot be written; its previous content stays.
    """
    unbiased = dataclasses.asdict(progress.unbiased).items()
    shown = {name: value if math.isfinite(value) else None for name, value in unbiased}
    facts = {"steps": progress.steps, "unfinished": progress.unfinished, **shown}
    replace(folder / STATISTICS, (json.dumps(facts, indent=1) + "\n").encode())


class SavedRollout:
    """Saves a measured rollout now and then.

    Args:
      folder: of the rollout.
      measured: the rollout.
      trajectories: what it writes of each step; None for nothing.
      found: the checkpoint from which it continues; None for none.
      key: a random key of the kind that the rollout has.

    Raises:
      FileError: the checkpoint does not fit.
    """

    def __init__(
        self,
        folder: Path,
        measured: MeasuredRollout,
        trajectories: Trajectories | None,
        found: Checkpoint | None,
        key: jax.Array,
    ):
        self._folder, self._measured, self._trajectories = folder, measured, trajectories
        if found is not None:
            measured.resume(checkpoint.restore(found.path, found.tensors, measured.struct, key), found.progress)
        if trajectories is not None:
            trajectories.resume(measured.progress.steps)
        self._saved = time.monotonic()

    def save_if_old(self) -> None:
        """Saves if the last checkpoint is some seconds old.

        Raises:
          FileError: a file cannot be written; its previous content stays.
          ProcessError: another process has ended.
        """
        if distributed.any_says(time.monotonic() - self._saved > _SECONDS):
            self.save()

    def save(self) -> None:
        """Writes the manifest and the statistics, then the checkpoint: what it counts is there.

        Raises:
          FileError, ProcessError: as for `save_if_old`.
        """
        progress, carry = self._measured.snapshot()
        if distributed.is_first():
            if self._trajectories is not None:
                self._trajectories.save(progress.steps)
            write_statistics(self._folder, progress)
            saved = _Saved(progress.steps, progress.unfinished, progress.statistics)
            checkpoint.save(self._folder / CHECKPOINT, carry, dataclasses.asdict(saved))
        self._saved = time.monotonic()
