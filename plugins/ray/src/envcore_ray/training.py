"""`trainable`: train agents with Ray Tune."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import envcore_baselines
import numpy as np
from envcore.files import replace
from envcore_baselines.algorithms import Algorithm
from envcore_baselines.curve import Point
from envcore_baselines.loggers import scalars
from ray import tune

if TYPE_CHECKING:  # the driver does not need JAX
    from envcore.environment import Environment


def trainable(algorithm: Algorithm, env: str | Environment, **arguments: Any) -> Callable[[dict[str, Any]], None]:
    """Returns a trainable for `ray.tune.Tuner`. Each trial calls `envcore_baselines.train`.

    A trial's config contains settings of the algorithm, such as `learning_rate`. It may also contain other arguments of
    `train`, such as `env` or `seed`, which override the arguments you pass here.

    The trial reports about a hundred results, one for each point of the learning curve. A result has `steps`, the
    environment steps per agent, and the scalars of `envcore_baselines.loggers.scalars`. `return` is the mean over
    agents of their latest returns. It is NaN until every agent has finished an episode.

    You can evaluate checkpoints with `envcore evaluate`. A trial that restores a checkpoint continues with the settings
    of its config.

    Args:
      algorithm, env: as for `envcore_baselines.train`.
      **arguments: as for `envcore_baselines.train`, except `out` and `callback`. `checkpoint_seconds` defaults to 0, so
        each result has a checkpoint, unless checkpoints would take more than 10% of the time.
    """
    arguments = {"algorithm": algorithm, "env": env, "checkpoint_seconds": 0.0, **arguments}

    def train(config: dict[str, Any]) -> None:
        from envcore_baselines.run import saved_curve
        from envcore_runs.folder import CHECKPOINT, RUN

        with tempfile.TemporaryDirectory() as name:
            folder, result, reported = Path(name), dict[str, float](), 0
            returns: Any = math.nan  # the latest return of each agent
            if checkpoint := tune.get_checkpoint():
                checkpoint.to_directory(folder)
                _change_settings(folder / RUN, config)
                reported = _version(folder / CHECKPOINT)
                returns = saved_curve(folder).last_returns

            def report(point: Point) -> None:
                nonlocal returns, reported
                returns = np.where(np.isnan(point.returns), returns, point.returns)
                result.update({**scalars(point), "steps": point.steps, "return": float(returns.mean())})
                before, reported = reported, _version(folder / CHECKPOINT)
                is_new = reported != before
                tune.report(dict(result), checkpoint=tune.Checkpoint.from_directory(folder) if is_new else None)

            envcore_baselines.train(**{**arguments, **config}, out=folder, callback=report)

    return train


def _change_settings(path: Path, config: dict[str, Any]) -> None:
    """Changes the settings of a saved run, for schedulers that change them during training."""
    run = json.loads(path.read_text())
    run["config"].update({name: value for name, value in config.items() if name in run["config"]})
    replace(path, json.dumps(run).encode())


def _version(path: Path) -> int:
    """Returns a number that changes when the file is replaced. 0 if there is no file."""
    return path.stat().st_ino if path.exists() else 0
