"""Training from Python; `envcore train` is its command."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from envcore import checks
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError
from envcore.files import replace
from envcore.random import key_of
from envcore_runs import distributed, memory, signals
from envcore_runs.choice import choice_of
from envcore_runs.folder import claimed as claimed_folder

from envcore_baselines import algorithms
from envcore_baselines.curve import Point
from envcore_baselines.learner import Constants
from envcore_baselines.trained import Evaluator, TrainedAgent
from envcore_baselines.training import CURVE_PNG, Run, Training


@dataclasses.dataclass(frozen=True, eq=False)
class Trained:
    """What `train` returns. Agents are in the order of their seeds; in a sweep, combination by combination.

    Attributes:
      run: what was trained.
      steps: environment steps that each agent had taken at each point of the curve, int64 (points,).
      names: of the agents, such as "seed_0", or in a sweep "learning_rate=0.001 seed_0".
      returns: mean return of the episodes that ended since the point before, float64 (points, agents); NaN where none
        did.
      last_returns: of each agent at the last point at which an episode of it had ended, float64 (agents,); or NaN.
      metrics: what the algorithm measures of its updates, such as its `loss`, and with evaluation `greedy_return`;
        float64 (points, agents) each.
      agents: which play and no longer learn.
      best_agents: the same agents at their best points of the curve, by their greedy returns, or without evaluation by
        those of their training.
      parameters: what the agents have learned, a pytree whose leaves have a leading axis for them.
    """

    run: Run
    steps: np.ndarray
    names: list[str]
    returns: np.ndarray
    last_returns: np.ndarray
    metrics: dict[str, np.ndarray]
    agents: list[TrainedAgent] = dataclasses.field(repr=False)
    best_agents: list[TrainedAgent] = dataclasses.field(repr=False)
    parameters: Any = dataclasses.field(repr=False)


def train(
    algorithm: algorithms.Algorithm,
    env: str | Environment,
    *,
    seeds: int = 1,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    params: Mapping[str, Any] | None = None,
    sweep: Mapping[str, Sequence[float] | np.ndarray] | None = None,
    randomize: Mapping[str, tuple[float, float]] | None = None,
    network: Any = None,
    evaluation_episodes: int = 0,
    out: str | Path | None = None,
    callback: Callable[[Point], bool | None] | None = None,
    devices: int | None = None,
    checkpoint_seconds: float | None = None,
    **settings: Any,
) -> Trained:
    """Trains agents side by side, as `envcore train` does.

    Args:
      algorithm: its name, such as "ppo", your "MODULE:CLASS", or the class; see `envcore_baselines.learner.Learner`.
      env: what `envcore.make` takes, or an environment, which is trained with its default params but for `params`, and
        with the algorithm's default settings: those tuned for an environment are found by its id.
      seeds: number of agents.
      seed: of the first agent; the others have the next ones. An agent alone learns otherwise than the same seed in a
        group, because rounding differs.
      options: constructor options of the environment.
      params: params of the environment that differ from the default ones.
      sweep: values of settings by name; `seeds` agents are trained with each combination, all in one program. Only
        numbers that the algorithm computes with can be swept, such as a learning rate.
      randomize: params that are drawn anew for each episode, uniformly from the lowest to the highest value; see
        `envcore.wrappers.RandomizeParams`.
      network: in place of the algorithm's own, if it takes one; see `envcore_baselines.learner.checked_network`. It
        replaces what the settings say of the network.
      evaluation_episodes: greedy episodes that each agent plays at each point of the curve.
      out: the folder of the run, where it is continued if it was interrupted; by default nothing is written.
      callback: is called with each of about a hundred points of the curve; see `envcore_baselines.curve.Point`. If it
        returns True, the training ends. What was trained until then is saved, in a single process also where it raises
        an error. Those of `envcore_baselines.loggers` write to TensorBoard and the like.
      devices: how many devices the agents are split over; by default all.
      checkpoint_seconds: the least time between two checkpoints in `out`, by default 5 seconds. They are written at
        points of the curve, and take at most a tenth of the time.
      **settings: of the algorithm, in place of those of the environment's file and the defaults.

    Raises:
      InvalidArgumentError: the seed or a number is invalid; the class cannot be imported, or with `out` has no name by
        which it can be; so too for an environment and a network.
      ConfigError: there is no such algorithm or setting, or a value is invalid or does not fit the environment.
      NotEnoughMemoryError: the agents do not fit into memory.
      EnvcoreError: as for `envcore.make`.
      FileError: the folder is that of another run, or cannot be written.
      KeyboardInterrupt, SystemExit: Ctrl-C was pressed, or SIGTERM has come; the training is saved.
    """
    for what, number in (("seeds", seeds), ("devices", devices)):
        if number is not None:
            checks.positive_integer(what, number, InvalidArgumentError)
    _ = key_of(seed)
    if not 0 <= evaluation_episodes <= 1_000_000:
        raise InvalidArgumentError(f"evaluation_episodes must be from 0 to 1,000,000, got {evaluation_episodes!r}.")
    is_saved = out is not None
    choice = dataclasses.replace(choice_of(env, options, params, is_saved=is_saved), randomize=randomize or {})
    made = choice.make()
    config = algorithms.config(algorithm, choice.found.spec.id, settings)
    grid = algorithms.grid(algorithm, sweep or {})
    run = Run(
        algorithms.name_of("algorithm", algorithm, is_saved=is_saved),
        choice.title,
        dict(choice.options),
        {name: _plain(value) for name, value in choice.params.items()},
        dataclasses.asdict(config),
        int(seed),
        int(seeds),
        grid,
        {name: [_plain(end) for end in ends] for name, ends in choice.randomize.items()},
        "" if network is None else algorithms.name_of("network", network, is_saved=is_saved),
        int(evaluation_episodes),
    )
    learner, folder = run.learner(*made, algorithm, network), None if out is None else Path(out)
    sharding = distributed.sharding_of_some(len(run.agents), devices)
    evaluate = Evaluator(learner, Constants(made[1]), run.evaluation_episodes) if run.evaluation_episodes else None
    claimed = claimed_folder(folder, dataclasses.asdict(run)) if folder else contextlib.nullcontext()
    with claimed, memory.explained("seeds", run.num_seeds):
        training = Training(learner, run, folder, sharding, evaluate, checkpoint_seconds)
        is_over, stopped = False, 0
        with signals.noted() as signum:
            while not (training.is_finished or is_over or stopped):
                training.advance()
                try:
                    is_over = callback is not None and bool(callback(training.point))
                except BaseException:
                    if jax.process_count() == 1:  # other processes would not take part
                        training.save()
                    raise
                stopped = int(distributed.highest(signum()))
        if not training.is_finished:
            training.save()
        if stopped:
            signals.stop(stopped)
        curve, agents = training.curve, training.agents
        if folder and distributed.is_first():
            replace(folder / CURVE_PNG, curve.to_png(f"{run.algorithm} in {run.env_id}", run.groups))
    return Trained(
        run,
        np.array(curve.steps, np.int64),
        run.names,
        curve.array(),
        curve.last_returns,
        curve.metrics,
        TrainedAgent.of_agents(run, *made, learner, agents),
        TrainedAgent.of_agents(run, *made, learner, training.best_agents),
        agents,
    )


def _plain(value: Any) -> Any:
    """Numpy's numbers as Python's, which JSON can hold."""
    return value.tolist() if hasattr(value, "tolist") else value
