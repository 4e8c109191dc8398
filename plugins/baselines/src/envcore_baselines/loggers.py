"""Logs returns and metrics during training, for each agent and averaged over agents.

    with loggers.TensorBoard("runs/cartpole") as log:
        envcore_baselines.train("ppo", "CartPole-v1", callback=log)

On the command line, pass `--tensorboard`. To log elsewhere, such as to Weights & Biases, write a callback:

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
    """Returns the finite metrics of a point by name.

    "return", "loss" and so on are means over the agents. With several agents, there is also one entry per agent, such
    as "seed_0/return".
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
    """Logs to TensorBoard. To see the curves, run `tensorboard --logdir FOLDER`.

    Args:
      folder: folder for the event files.

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
        """Writes a point. TensorBoard hides what an earlier training wrote for this point and later ones."""
        if self._writer is None:
            self._writer = self._module.SummaryWriter(self._folder, purge_step=point.steps)
        for name, value in scalars(point).items():
            tag = re.sub(r"[^-/.\w]", "_", name)  # TensorBoard forbids other characters, which names in a sweep contain
            self._writer.add_scalar(tag, value, point.steps)
        self._writer.flush()

    def __exit__(self, *error: object) -> None:
        if self._writer is not None:
            self._writer.close()
