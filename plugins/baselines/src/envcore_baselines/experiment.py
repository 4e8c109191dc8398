"""Training from Python."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from envcore import checks
from envcore.errors import InvalidArgumentError
from envcore.random import key_of
from envcore_runs import placement
from envcore_runs.choice import Choice, choose

from envcore_baselines import algorithms
from envcore_baselines.trained import TrainedAgent
from envcore_baselines.training import Run, Training


@dataclasses.dataclass(frozen=True, eq=False)
class Trained:
    """What `train` returns.

    Attributes:
      steps: environment steps that each agent had taken at each point of the curve, int64 (points,).
      returns: mean return of the episodes that ended since the point before, float64 (points, seeds); NaN where none
        did.
      agents: which play and no longer learn, in the order of their seeds.
      parameters: what they have learned, a pytree whose leaves have a leading axis for the seeds.
    """

    steps: np.ndarray
    returns: np.ndarray
    agents: list[TrainedAgent]
    parameters: Any


def train(
    algorithm: str,
    env_id: str,
    *,
    seeds: int = 1,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    params: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    callback: Callable[[int, np.ndarray], bool | None] | None = None,
    **settings: Any,
) -> Trained:
    """Trains agents side by side, as `envcore train` does.

    Args:
      algorithm: its name, such as "ppo".
      env_id: what `envcore.make` takes.
      seeds: number of agents.
      seed: of the first agent; the others have the next ones.
      options: constructor options of the environment.
      params: params of the environment that differ from the default ones.
      out: the folder of the run, where it is continued if it was interrupted; by default nothing is written.
      callback: `callback(steps, returns)` is called after each of about a hundred points of the curve, with the returns
        of all agents, float64 (seeds,). If it returns True, the training ends.
      **settings: of the algorithm, in place of those of the environment's file and the defaults.

    Raises:
      InvalidArgumentError: the seed or the number of seeds is invalid.
      ConfigError: there is no such algorithm or setting, or a value is invalid or does not fit the environment.
      EnvcoreError: as for `envcore.make`.
      FileError: the folder is that of another run, or cannot be written.
    """
    num_seeds = checks.positive_integer("seeds", seeds, InvalidArgumentError, at_most=algorithms.MAX_SEEDS)
    _ = key_of(seed)
    choice = dataclasses.replace(choose(env_id), options=options or {}, params=params or {})
    config = algorithms.config(algorithm, choice.found.spec.id, settings, "settings")
    env, env_params = choice.make()
    learner = algorithms.learner(algorithm, env, env_params, config)
    run = run_of(choice, algorithm, config, int(seed), num_seeds)
    folder = None if out is None else Path(out)
    with contextlib.nullcontext() if folder is None else run.claimed(folder):
        training = Training(learner, run.keys, folder, placement.sharding_of_some(num_seeds, None), run.seed)
        while not training.is_finished:
            training.advance()
            if callback and callback(training.curve.steps[-1], np.array(training.curve.returns[-1])):
                training.save()
                break
    agents = training.agents
    return Trained(
        np.array(training.curve.steps, np.int64),
        np.array(training.curve.returns, np.float64).reshape(-1, num_seeds),
        TrainedAgent.of_seeds(run, env, env_params, learner, agents),
        agents,
    )


def run_of(choice: Choice, algorithm: str, config: Any, seed: int, num_seeds: int) -> Run:
    """What a folder holds the results of."""
    changed = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in choice.params.items()}
    settings = dataclasses.asdict(config)
    return Run(algorithm, choice.title, dict(choice.options), changed, settings, seed, num_seeds)
