"""Training with Ray Tune."""

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

if TYPE_CHECKING:  # the driver needs no JAX
    from envcore.environment import Environment


def trainable(algorithm: Algorithm, env: str | Environment, **arguments: Any) -> Callable[[dict[str, Any]], None]:
    """A trainable for `ray.tune.Tuner`: each trial is a call of `envcore_baselines.train`.

    A trial's config holds settings of the algorithm, such as `learning_rate`. It may also hold other arguments of
    `train`, such as `env` or `seed`. They replace the arguments given here.

    Each of about a hundred points of the learning curve is a result with `steps`, the environment steps of each agent,
    and the numbers of `envcore_baselines.loggers.scalars`. `return` is the mean over agents of their latest returns. It
    is NaN until each of them has ended an episode.

    Checkpoints are folders that `envcore evaluate` reads. A trial that restores one continues from there with the
    settings of its config.

    Args:
      algorithm, env: as for `envcore_baselines.train`.
      **arguments: as for `envcore_baselines.train`, but for `out` and `callback`. Unlike there, `checkpoint_seconds` is
        0 by default: a result comes with a checkpoint, unless that takes more than a tenth of the time.
    """
    arguments = {"algorithm": algorithm, "env": env, "checkpoint_seconds": 0.0, **arguments}

    def train(config: dict[str, Any]) -> None:
        from envcore_baselines.run import CHECKPOINT, saved_curve
        from envcore_runs.folder import RUN

        with tempfile.TemporaryDirectory() as name:
            folder, result, reported = Path(name), dict[str, float](), 0
            returns: Any = math.nan  # of each agent, its latest
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
    """Lets a run go on with other settings, for schedulers that change them while an agent learns."""
    run = json.loads(path.read_text())
    run["config"].update({name: value for name, value in config.items() if name in run["config"]})
    replace(path, json.dumps(run).encode())


def _version(path: Path) -> int:
    """A number that differs between a file and the one that replaces it; 0 without a file."""
    return path.stat().st_ino if path.exists() else 0
