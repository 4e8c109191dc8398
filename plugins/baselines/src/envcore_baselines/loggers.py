"""Where the points of a training go as they come: TensorBoard, Weights & Biases.

    with loggers.TensorBoard("runs/cartpole") as log:
        envcore_baselines.train("ppo", "CartPole-v1", callback=log)

A logger is a callback of `envcore_baselines.train`, of one training, and a context manager that closes it; on the
command line, `--log` makes one. Both write the same numbers: the returns and metrics of each agent, their means over
the agents, and the steps per second.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from envcore.errors import EnvcoreError, one_line
from envcore.suggestions import how_to_install

from envcore_baselines.curve import Point


def scalars(point: Point) -> dict[str, float]:
    """The finite numbers of a point by name.

    "return", "loss" and so on are means over the agents; those of each of several agents follow, as "seed_0/return".
    """
    columns = {"return": point.returns, **point.metrics}
    found = {"steps_per_second": point.steps_per_second}
    for name, values in columns.items():
        known = values[np.isfinite(values)]
        if known.size:
            found[name] = float(known.mean())
        if len(values) > 1:
            found |= {f"{agent}/{name}": float(value) for agent, value in zip(point.names, values, strict=True)}
    return {name: value for name, value in found.items() if math.isfinite(value)}


class TensorBoard(contextlib.AbstractContextManager["TensorBoard", None]):
    """TensorBoard's event files: `tensorboard --logdir FOLDER` shows them.

    Args:
      folder: their folder.

    Raises:
      EnvcoreError: tensorboardX is not installed.
    """

    def __init__(self, folder: str | Path):
        self._module = _imported("tensorboardX", "tensorboard")
        self._folder, self._writer = str(folder), None

    def __call__(self, point: Point) -> None:
        """Writes a point; what an earlier training wrote of it and of later ones is no longer shown."""
        if self._writer is None:
            self._writer = self._module.SummaryWriter(self._folder, purge_step=point.steps)
        for name, value in scalars(point).items():
            tag = re.sub(r"[^-/.\w]", "_", name)  # others are illegal; names of a sweep have some
            self._writer.add_scalar(tag, value, point.steps)
        self._writer.flush()

    def __exit__(self, *error: object) -> None:
        if self._writer is not None:
            self._writer.close()


class WeightsAndBiases(contextlib.AbstractContextManager["WeightsAndBiases", None]):
    """A run of Weights & Biases, which reads its own environment variables, such as WANDB_MODE=offline.

    Args:
      config: what the run is of, by name.
      folder: where `wandb` keeps its files.
      **options: of `wandb.init`, such as `project` and `name`.

    Raises:
      EnvcoreError: wandb is not installed.
    """

    def __init__(self, config: Mapping[str, Any] | None = None, folder: str | Path | None = None, **options: Any):
        self._module, self._run = _imported("wandb", "wandb"), None
        self._options = {"project": "envcore", "config": dict(config or {}), "dir": folder and str(folder), **options}

    def __call__(self, point: Point) -> None:
        """Logs a point; the first one begins the run.

        Raises:
          EnvcoreError: the run cannot begin, for example without a login.
        """
        if self._run is None:
            try:
                self._run = self._module.init(**self._options)
            except self._module.Error as error:
                raise EnvcoreError(f"Weights & Biases cannot log: {one_line(error)}") from error
        self._run.log(scalars(point), step=point.steps)

    def __exit__(self, *error: object) -> None:
        if self._run is not None:
            self._run.finish()


def _imported(module: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        needed = f"logging to {extra} needs {module}, which is not installed"
        raise EnvcoreError(f"{needed}: {how_to_install(f'envcore-baselines[{extra}]')}.") from error
