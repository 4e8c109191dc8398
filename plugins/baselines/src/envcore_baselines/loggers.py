"""Logs the points of a training as they come: the returns and metrics of each agent, and their means over agents.

    with loggers.TensorBoard("runs/cartpole") as log:
        envcore_baselines.train("ppo", "CartPole-v1", callback=log)

On the command line: `envcore train --tensorboard`. To log elsewhere, such as to Weights & Biases, write a callback:

    with wandb.init(project="cartpole") as run:
        envcore_baselines.train("ppo", "CartPole-v1", callback=lambda point: run.log(scalars(point), step=point.steps))
"""

from __future__ import annotations

import contextlib
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from envcore.errors import EnvcoreError
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
        try:
            import tensorboardX
        except ModuleNotFoundError as error:
            needed = "logging to TensorBoard needs tensorboardX, which is not installed"
            raise EnvcoreError(f"{needed}: {how_to_install('envcore-baselines[tensorboard]')}.") from error
        self._module: Any = tensorboardX
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
