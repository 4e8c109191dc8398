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
from pathlib import Path

import jax
from envcore.files import replace

from envcore_runs import checkpoint, processes, run_folder
from envcore_runs.episode_statistics import EpisodeStatistics
from envcore_runs.measured_rollout import MeasuredRollout
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
    statistics: EpisodeStatistics

    def __post_init__(self) -> None:
        if not self.statistics.is_possible():
            raise ValueError("has statistics that no episodes have")


class SavedRollout:
    """Saves a measured rollout now and then.

    Args:
      folder: of the rollout; `claim` has found that it is its own.
      steps: of each environment, when it is complete.
      measured: the rollout, which continues from the last checkpoint, if there is one.
      trajectories: what it writes of each step; None for nothing.
      key: a random key of the kind that the rollout has.

    Raises:
      FileError: the checkpoint is damaged, does not fit, or is not the one that other processes see.
      ProcessError: another process has ended.
    """

    def __init__(
        self, folder: Path, steps: int, measured: MeasuredRollout, trajectories: Trajectories | None, key: jax.Array
    ):
        self._folder, self._measured, self._trajectories = folder, measured, trajectories
        path = folder / CHECKPOINT
        if path.exists():
            tensors, saved = checkpoint.load(path, _Saved)
            if saved.steps > steps:
                raise File(path).damaged(f"its steps is {saved.steps:,}, of {steps:,}")
            if not saved.statistics.is_possible(saved.steps * measured.num_envs):
                raise File(path).damaged(f"no episodes of {saved.steps:,} steps have its statistics")
            carry = checkpoint.restore(path, tensors, measured.struct, key)
            measured.resume(carry, saved.steps, saved.statistics)
        run_folder.check_agreed(folder, measured.progress.steps)
        if trajectories is not None:
            trajectories.resume(measured.progress.steps)
        self._saved = time.monotonic()

    def save_if_old(self) -> None:
        """Saves if the last checkpoint is some seconds old.

        Raises:
          FileError: a file cannot be written; its previous content stays.
          ProcessError: another process has ended.
        """
        if processes.any_says(time.monotonic() - self._saved > _SECONDS):
            self.save()

    def save(self) -> None:
        """Writes the manifest and the statistics, then the checkpoint: what it counts is there.

        Raises:
          FileError, ProcessError: as for `save_if_old`.
        """
        progress, carry = self._measured.snapshot()
        if processes.is_first():
            if self._trajectories is not None:
                self._trajectories.save(progress.steps)
            statistics = dataclasses.asdict(progress.statistics)
            shown = {name: value if math.isfinite(value) else None for name, value in statistics.items()}
            text = json.dumps({"steps": progress.steps, **shown}, indent=1) + "\n"
            replace(self._folder / STATISTICS, text.encode())
            about = {"steps": progress.steps, "statistics": statistics}
            checkpoint.save(self._folder / CHECKPOINT, carry, about)
        self._saved = time.monotonic()
