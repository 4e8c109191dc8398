"""Training from Python; `envcore train` is its command."""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from envcore import checks
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError
from envcore.files import replace
from envcore.random import key_of
from envcore_runs import distributed, memory, signals
from envcore_runs.choice import Choice, choice_of

from envcore_baselines import algorithms
from envcore_baselines.curve import Point
from envcore_baselines.evaluation import Evaluator
from envcore_baselines.learner import Constants, Learner
from envcore_baselines.trained import TrainedAgent
from envcore_baselines.training import CURVE_PNG, Run, Training, training_bytes


@dataclasses.dataclass(frozen=True, eq=False)
class Trained:
    """What `train` returns. Agents are in the order of their seeds; in a sweep, combination by combination.

    Attributes:
      steps: environment steps that each agent had taken at each point of the curve, int64 (points,).
      names: of the agents, such as "seed_0", or in a sweep "learning_rate=0.001 seed_0".
      returns: mean return of the episodes that ended since the point before, float64 (points, agents); NaN where none
        did.
      metrics: what the algorithm measures of its updates, such as its `loss`, and with evaluation `greedy_return`;
        float64 (points, agents) each.
      agents: which play and no longer learn.
      best_agents: the same agents at their best points of the curve, by their greedy returns, or without evaluation by
        those of their training.
      parameters: what the agents have learned, a pytree whose leaves have a leading axis for them.
    """

    steps: np.ndarray
    names: list[str]
    returns: np.ndarray
    metrics: dict[str, np.ndarray]
    agents: list[TrainedAgent] = dataclasses.field(repr=False)
    best_agents: list[TrainedAgent] = dataclasses.field(repr=False)
    parameters: Any = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True, eq=False)
class Session:
    """A training that is going on.

    Attributes:
      run: what is trained.
      env, params: the environment.
      learner: the algorithm.
      training: how far it is.
      notes: what a user should know before it goes on, a line each.
    """

    run: Run
    env: Environment
    params: Any
    learner: Learner
    training: Training
    notes: list[str]

    def points(self) -> Iterator[Point]:
        """Trains; the points of the curve that are left, as they come.

        Raises:
          KeyboardInterrupt, SystemExit: Ctrl-C was pressed, or SIGTERM has come, in any process; the training is saved.
        """
        with signals.noted() as signum:
            while not self.training.is_finished:
                self.training.advance()
                yield self.training.point
                if stopped := int(distributed.highest(signum())):
                    self.training.save()
                    signals.stop(stopped)

    def trained(self) -> Trained:
        """The results so far."""
        training, curve, shape = self.training, self.training.curve, (-1, self.run.num_agents)
        agents = training.agents

        def players(agents: Any) -> list[TrainedAgent]:
            return TrainedAgent.of_agents(self.run, self.env, self.params, self.learner, agents)

        return Trained(
            np.array(curve.steps, np.int64),
            self.run.names,
            np.array(curve.returns, np.float64).reshape(shape),
            {name: np.array(rows, np.float64).reshape(shape) for name, rows in curve.metrics.items()},
            players(agents),
            players(training.best_agents),
            agents,
        )


@contextlib.contextmanager
def started(
    run: Run,
    made: tuple[Environment, Any],
    learner: Learner,
    out: Path | None,
    devices: int | None = None,
    option: str = "seeds",
    checkpoint_seconds: float | None = None,
) -> Generator[Session]:
    """Begins a training, or continues that of a folder. The block trains.

    Args:
      run: what is trained.
      made: its environment and params.
      learner: its algorithm in this environment.
      out: the folder of the run; None keeps nothing.
      devices: their number; None for all.
      option: the name of the number of seeds, for errors.
      checkpoint_seconds: as for `train`.

    Raises:
      NotEnoughMemoryError: the agents do not fit into memory.
      FileError: the folder is that of another run, or cannot be written.
    """
    env, params = made
    sharding = distributed.sharding_of_some(run.num_agents, devices)
    episodes = run.evaluation_episodes
    evaluate = Evaluator(learner, Constants(params), episodes) if episodes else None
    each = training_bytes(learner, run, sharding, evaluate) * len(run.combinations)
    memory.check_fits(option, run.num_seeds, each, memory.device_bytes(sharding))
    with contextlib.nullcontext() if out is None else run.claimed(out), memory.explained(option, run.num_seeds):
        training = Training(learner, run, out, sharding, evaluate, checkpoint_seconds)
        notes: list[str] = []
        if training.is_split_anew and not training.is_finished:
            notes.append("continued with another number of agents on a device, so the rest can go another way.")
        yield Session(run, env, params, learner, training, notes)
        if out and len(training.curve) and distributed.is_first():
            replace(out / CURVE_PNG, training.picture())


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
      network: in place of the algorithm's own, if it takes one; see `envcore_baselines.networks`. It replaces what the
        settings say of the network.
      evaluation_episodes: greedy episodes that each agent plays at each point of the curve.
      out: the folder of the run, where it is continued if it was interrupted; by default nothing is written.
      callback: is called with each of about a hundred points of the curve; see `envcore_baselines.curve.Point`. If it
        returns True, the training ends. Those of `envcore_baselines.loggers` write to TensorBoard and the like.
      devices: how many devices the agents are split over; by default all.
      checkpoint_seconds: the least time between two checkpoints in `out`, by default 5. They are written at points of
        the curve, and take at most a tenth of the time.
      **settings: of the algorithm, in place of those of the environment's file and the defaults.

    Raises:
      InvalidArgumentError: the seed or a number is invalid; the class cannot be
        imported, or with `out` has no name by which it can be; so too for an environment and a network.
      ConfigError: there is no such algorithm or setting, or a value is invalid or does not fit the environment.
      NotEnoughMemoryError: the agents do not fit into memory.
      EnvcoreError: as for `envcore.make`.
      FileError: the folder is that of another run, or cannot be written.
    """
    num_seeds = checks.positive_integer("seeds", seeds, InvalidArgumentError, at_most=algorithms.MAX_AGENTS)
    _ = key_of(seed)
    if devices is not None:
        devices = checks.positive_integer("devices", devices, InvalidArgumentError)
    if callback is not None and not callable(callback):
        raise InvalidArgumentError(f"callback must be a function of a point of the curve, got {callback!r}.")
    for name, given in (("options", options), ("params", params), ("sweep", sweep), ("randomize", randomize)):
        if given is not None and not isinstance(given, Mapping):
            raise InvalidArgumentError(f"{name} must be a dict, of values by name, got {given!r}.")
    is_saved = out is not None
    choice = choice_of(env, options, params, is_saved=is_saved)
    choice = dataclasses.replace(choice, randomize=randomize or {})
    made, env_params = choice.make()
    run = planned(
        choice,
        algorithm,
        settings,
        int(seed),
        num_seeds,
        sweep,
        network,
        evaluation_episodes,
        sources=("settings", "sweep", "evaluation_episodes"),
        is_saved=is_saved,
    )
    learner = run.learner(made, env_params, algorithm, network)
    folder = None if out is None else Path(out)
    with started(run, (made, env_params), learner, folder, devices, checkpoint_seconds=checkpoint_seconds) as session:
        for note in session.notes:
            warnings.warn(note, stacklevel=2)
        for point in session.points():
            try:
                is_over = callback and callback(point)
            except Exception:
                session.training.save()
                raise
            if is_over:
                session.training.save()
                break
        return session.trained()


def planned(
    choice: Choice,
    algorithm: algorithms.Algorithm,
    settings: Mapping[str, Any],
    seed: int,
    num_seeds: int,
    sweep: Mapping[str, Sequence[float] | np.ndarray] | None = None,
    network: Any = None,
    evaluation_episodes: int = 0,
    *,
    sources: tuple[str, str, str] = ("--setting", "--sweep", "--evaluate"),
    is_saved: bool = True,
) -> Run:
    """What a folder holds the results of.

    Args:
      choice: the environment.
      algorithm, settings, seed, num_seeds, sweep, network, evaluation_episodes: as for `train`.
      sources: where the settings, the sweep and the number of greedy episodes come from, for errors.
      is_saved: whether the run is kept, and so must find algorithm and network again by their names.

    Raises:
      InvalidArgumentError, ConfigError: as for `train`.
    """
    config = algorithms.config(algorithm, choice.found.spec.id, settings, sources[0])
    changed = {name: _plain(value) for name, value in choice.params.items()}
    grid = algorithms.grid(algorithm, sweep or {}, settings, sources[1])
    episodes = evaluation_episodes
    if isinstance(episodes, bool) or not isinstance(episodes, int | np.integer) or not 0 <= episodes <= 1_000_000:
        raise InvalidArgumentError(f"{sources[2]} must be an integer from 0 to 1,000,000, got {episodes!r}.")
    name = algorithms.name_of("algorithm", algorithm, is_saved=is_saved)
    name_of_network = "" if network is None else algorithms.name_of("network", network, is_saved=is_saved)
    try:
        return Run(
            name,
            choice.title,
            dict(choice.options),
            changed,
            dataclasses.asdict(config),
            seed,
            num_seeds,
            grid,
            {name: [_plain(end) for end in ends] for name, ends in choice.randomize.items()},
            name_of_network,
            int(episodes),
        )
    except ValueError as error:
        raise InvalidArgumentError(f"the run {error}.") from error


def _plain(value: Any) -> Any:
    """Numpy's numbers as Python's, which JSON can hold."""
    return value.tolist() if hasattr(value, "tolist") else value
