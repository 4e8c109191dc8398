"""A run: agents that are trained side by side, with a checkpoint, a learning curve and metrics in a folder.

The agents differ in their seeds, and in a sweep also in settings. All of them are one compiled program, on each device
`vmap` of a `scan` of updates. It is called once for each point of the curve, so a run that is killed continues from its
last checkpoint and ends with the same files, bit for bit.

For one device, and for each number of agents on a device, XLA compiles another program, and their roundings differ. On
several devices an agent's numbers do not depend on how many devices there are, or on the agents of the others.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, trees
from envcore.devices import spread
from envcore.environment import Environment
from envcore.errors import FileError
from envcore.files import replace
from envcore.random import key_of
from envcore_runs import checkpoint, distributed
from envcore_runs import folder as run_folder
from envcore_runs.choice import choose
from envcore_runs.folder import RUN
from envcore_runs.memory import tree_bytes
from envcore_runs.records import File, Natural, Positive
from jax.sharding import NamedSharding

from envcore_baselines import algorithms
from envcore_baselines.contract import check_update
from envcore_baselines.curve import Curve, CurveRecord, Point
from envcore_baselines.footprint import largest_bytes
from envcore_baselines.learner import Constants, Learner, Metrics, each_agent
from envcore_baselines.sweep import Swept, combinations, title

CHECKPOINT = "checkpoint.safetensors"
CURVE_CSV, CURVE_PNG, METRICS_CSV = "curve.csv", "curve.png", "metrics.csv"

_POINTS = 100
_SECONDS = 5.0  # between checkpoints
_SHARE = 0.1  # of the time that saving may take

Evaluate = Callable[[Any, jax.Array], jax.Array]
"""The returns of greedy episodes, float32 (agents, episodes), of agents and their random keys."""


@dataclasses.dataclass(frozen=True)
class Run:
    """What a folder holds the results of: with the same run, training gives the same results.

    Attributes:
      algorithm: its name.
      env_id: what `envcore.make` takes.
      options: constructor options of the environment.
      params: params of the environment that differ from the default ones.
      config: the settings of the algorithm.
      seed: of the first agent; the others have the next ones.
      num_seeds: number of agents, of each combination of a sweep.
      sweep: the values of settings that are swept, of which each combination is trained.
      randomize: params that are drawn anew for each episode, each with its lowest and its highest value.
      network: of the user's, `MODULE:NAME`; empty for the algorithm's own.
      evaluation_episodes: greedy episodes that each agent plays at each point of the curve.
    """

    algorithm: str
    env_id: str
    options: dict[str, Any]
    params: dict[str, Any]
    config: dict[str, Any]
    seed: Natural
    num_seeds: Positive
    sweep: dict[str, list[int | float]] = dataclasses.field(default_factory=dict[str, list[int | float]])
    randomize: dict[str, list[int | float]] = dataclasses.field(default_factory=dict[str, list[int | float]])
    network: str = ""
    evaluation_episodes: Natural = 0

    def __post_init__(self) -> None:
        if self.num_agents > algorithms.MAX_AGENTS:
            raise ValueError(f"has {self.num_agents:,} agents, of at most {algorithms.MAX_AGENTS:,}")
        # JSON has no tuples.
        object.__setattr__(self, "options", {name: _hashable(value) for name, value in self.options.items()})

    @classmethod
    def load(cls, folder: str | Path) -> Run:
        """The run of a folder.

        Raises:
          FileError: the folder holds none, or its file is damaged.
        """
        return run_folder.load(folder, cls)

    @property
    def combinations(self) -> list[dict[str, float]]:
        """The swept settings of each group of `num_seeds` agents."""
        return combinations(self.sweep)

    @property
    def num_agents(self) -> int:
        """The number of all agents: those of the first combination of a sweep, then those of the next."""
        return math.prod(map(len, self.sweep.values())) * self.num_seeds

    @property
    def seeds(self) -> list[int]:
        """The seed of each agent."""
        return [self.seed + number for number in range(self.num_seeds)] * len(self.combinations)

    @property
    def groups(self) -> list[str]:
        """The names of the combinations of a sweep; [""] without one."""
        return [title(each) for each in self.combinations]

    @property
    def names(self) -> list[str]:
        """The name of each agent, such as "seed_0", or in a sweep "learning_rate=0.001 seed_0"."""
        seeds = [f"seed_{self.seed + number}" for number in range(self.num_seeds)]
        return [f"{group} {seed}".strip() for group in self.groups for seed in seeds]

    @property
    def keys(self) -> jax.Array:
        """The random key of each agent, that of its seed: typed keys (num_agents,)."""
        return jnp.stack([key_of(seed) for seed in self.seeds])

    @property
    def starts(self) -> Any:
        """What `learner.init` takes, for each agent: its key, in a sweep also its settings."""
        if not self.sweep:
            return self.keys
        values = {
            name: np.repeat(np.array([each[name] for each in self.combinations], np.float32), self.num_seeds)
            for name in self.sweep
        }
        return self.keys, values

    def of_agent(self, number: int) -> Run:
        """The run that would have trained this agent alone."""
        config = {**self.config, **self.combinations[number // self.num_seeds]}
        return dataclasses.replace(self, config=config, seed=self.seed + number % self.num_seeds, num_seeds=1, sweep={})

    def make(self) -> tuple[Environment, Any]:
        """The environment and its params."""
        choice = choose(self.env_id, self.options, self.params)
        return dataclasses.replace(choice, randomize=self.randomize).make()

    def learner(self, env: Environment, params: Any, algorithm: Any = None, network: Any = None) -> Learner:
        """The algorithm with the run's settings, for an environment.

        For an algorithm that a plugin announces it is the same object for equal settings, so that its programs are
        compiled once.

        Args:
          env, params: the environment.
          algorithm, network: in place of those that the run names, if they have no names by which they can be found.

        Raises:
          ConfigError: the settings do not fit the environment, or cannot be swept; a user's algorithm fails.
        """
        algorithm = self.algorithm if algorithm is None else algorithm
        config = algorithms.config(algorithm, None, self.config, RUN)
        names = tuple(algorithms.grid(algorithm, self.sweep, {}, RUN))
        network = (self.network or None) if network is None else network
        if network is None and algorithms.is_announced(algorithm):
            return _shared_learner(algorithm, env, Constants(params), config, names)
        return _learner(algorithm, env, params, config, network, names)

    def claimed(self, folder: str | Path) -> AbstractContextManager[None]:
        """Creates this run's folder, or checks that it is this run's, and locks it; see `run_folder.claimed`.

        Raises:
          FileError: as there, when the block begins.
        """
        return run_folder.claimed(folder, dataclasses.asdict(self))


@dataclasses.dataclass(frozen=True)
class _Saved:
    """What a checkpoint says beside its arrays."""

    curve: CurveRecord
    agents_on_a_device: Positive | None = None


class Progress(NamedTuple):
    """How far the agents are, each leaf with a leading axis for them.

    Attributes:
      state: the learner's.
      best: the agent at its best point so far: by the greedy episodes of its evaluation, or without by its training.
      best_return: its mean return there, float32; minus infinity before any episode ended.
    """

    state: Any
    best: Any
    best_return: np.ndarray


def _load(folder: str | Path, num_agents: int) -> tuple[dict[str, np.ndarray], _Saved]:
    folder = Path(folder)
    tensors, saved = checkpoint.load(folder / CHECKPOINT, _Saved)
    if saved.curve.num_agents != num_agents:
        raise File(folder / CHECKPOINT).damaged(f"it has {saved.curve.num_agents:,} agents, of {num_agents:,}")
    return tensors, saved


def saved_curve(run: Run, folder: str | Path) -> Curve:
    """The learning curve at the last checkpoint of a run.

    Raises:
      FileError: there is no checkpoint, it is damaged, or it is one of another number of agents.
    """
    return Curve.of_record(_load(folder, run.num_agents)[1].curve)


def training_bytes(
    learner: Learner, run: Run, sharding: NamedSharding | None = None, evaluate: Evaluate | None = None
) -> int:
    """About how many bytes the training of one agent takes: its state and what a program stores, each twice.

    The programs are traced for this, and not again when they run.

    Args:
      learner, run, sharding, evaluate: as for `Training`.
    """
    sharding = _of_several(sharding)
    num_agents = _agents_on_a_device(run, sharding)
    rows = num_agents * (1 if sharding is None else sharding.mesh.size)

    def of_all(tree: Any) -> Any:
        return jax.tree.map(lambda x: jax.ShapeDtypeStruct((rows, *x.shape[1:]), x.dtype), tree)

    one = dataclasses.replace(run, num_seeds=1)
    starts, keys = jax.eval_shape(lambda: (one.starts, one.keys))
    states = _start.trace(learner, sharding, of_all(starts)).out_info
    updates = _updates_of_a_point(learner)
    program = _point.trace(learner, updates, evaluate, sharding, of_all(states), of_all(keys), np.int32(0))
    return 2 * (tree_bytes(states) // rows + largest_bytes(program.jaxpr) // num_agents)


def _of_several(sharding: NamedSharding | None) -> NamedSharding | None:
    """The devices, None for one."""
    return None if sharding is None or sharding.mesh.size == 1 else sharding


def _agents_on_a_device(run: Run, sharding: NamedSharding | None) -> int:
    return -(-run.num_agents // (1 if sharding is None else sharding.mesh.size))


def _updates_of_a_point(learner: Learner) -> int:
    return -(-learner.num_updates // _POINTS)


def _hashable(option: Any) -> Any:
    """An option as it was before JSON, which has no tuples."""
    return tuple(_hashable(each) for each in option) if isinstance(option, list) else option


@functools.lru_cache(maxsize=16)
def _shared_learner(
    algorithm: Any, env: Environment, params: Constants, config: Any, names: tuple[str, ...]
) -> Learner:
    """`_learner`, the same for the same arguments."""
    return _learner(algorithm, env, params.tree, config, None, names)


def _learner(
    algorithm: algorithms.Algorithm, env: Environment, params: Any, config: Any, network: Any, names: tuple[str, ...]
) -> Learner:
    """A learner, in which settings of these names are swept. Programs are compiled for each learner."""

    def make(config: Any) -> Learner:
        return algorithms.learner(algorithm, env, params, config, network)

    if not algorithms.is_announced(algorithm):  # as those that a user is just writing
        check_update(make(config))
    return Swept(make, config, names) if names else make(config)


class Training:
    """Trains the agents of a run, one point of the learning curve at a time.

    The agents are split over devices. Where their number is not a multiple of that of the devices, the last one is
    trained several times; its copies are left out of all results.

    Args:
      learner: the algorithm, for the run's environment.
      run: what is trained.
      folder: of the run; its checkpoint, if it has one, is where training continues. All processes have to see it, and
        process 0 writes. None keeps nothing.
      sharding: the devices; None for one.
      evaluate: plays an agent's greedy episodes at each point of the curve; None leaves them out.
      checkpoint_seconds: as for `experiment.train`.

    Attributes:
      curve: the learning curve so far.
      num_points: points of the whole curve.
      is_split_anew: whether it continues with another number of agents on a device, which changes the rounding.

    Raises:
      FileError: the checkpoint is damaged or does not fit.
    """

    def __init__(
        self,
        learner: Learner,
        run: Run,
        folder: Path | None,
        sharding: NamedSharding | None = None,
        evaluate: Evaluate | None = None,
        checkpoint_seconds: float | None = None,
    ):
        self._learner, self._run, self._folder, self._evaluate = learner, run, folder, evaluate
        self._checkpoint_seconds = _SECONDS if checkpoint_seconds is None else checkpoint_seconds
        self._sharding = _of_several(sharding)
        self._updates = _updates_of_a_point(learner)
        self.num_points = -(-learner.num_updates // self._updates)
        self._on_a_device = _agents_on_a_device(run, self._sharding)
        self.is_split_anew = False
        keys, starts = run.keys, run.starts
        self._keys = self._placed(keys)
        if folder and (path := folder / CHECKPOINT).exists():
            tensors, saved = _load(folder, run.num_agents)
            self.curve = Curve.of_record(saved.curve)
            if self.curve.steps != [self._steps(number + 1) for number in range(min(len(self.curve), self.num_points))]:
                raise File(path).damaged("the steps of its curve are not those of the run")
            state = _start.trace(learner, None, starts).out_info
            struct = Progress(state, state.agent, np.zeros(run.num_agents, np.float32))
            state, best, best_return = checkpoint.restore(path, tensors, struct, keys)
            self._progress = Progress(self._placed(state), self._placed(best), np.asarray(best_return))
            self.is_split_anew = (saved.agents_on_a_device or self._on_a_device) != self._on_a_device
        else:
            state = _start(learner, self._sharding, self._placed(starts))
            self._progress = Progress(state, state.agent, np.full(run.num_agents, -np.inf, np.float32))
            self.curve = Curve(run.num_agents)
        if folder:
            run_folder.check_agreed(folder, len(self.curve))
        self._saved, self._seconds_to_save = time.monotonic(), 0.0
        self._steps_per_second, self._is_compiled = math.nan, False

    @classmethod
    def load(cls, learner: Learner, run: Run, folder: str | Path) -> Self:
        """The training at its last checkpoint.

        Raises:
          FileError: there is none yet, or it is damaged or does not fit.
        """
        folder = Path(folder)
        if not (folder / CHECKPOINT).exists():
            raise FileError(f"{folder} has no checkpoint yet.")
        return cls(learner, run, folder)

    @property
    def is_finished(self) -> bool:
        """Whether the curve is complete."""
        return len(self.curve) >= self.num_points

    @property
    def agents(self) -> Any:
        """The agents so far, every leaf with a leading axis for them."""
        return self._whole(self._progress.state.agent)

    @property
    def best_agents(self) -> Any:
        """Each agent at its best point so far, every leaf with a leading axis for them."""
        return self._whole(self._progress.best)

    @property
    def point(self) -> Point:
        """The last point of the curve, which is not empty."""
        curve = self.curve
        metrics = {name: np.array(rows[-1]) for name, rows in curve.metrics.items()}
        return Point(curve.steps[-1], self._run.names, np.array(curve.returns[-1]), metrics, self._steps_per_second)

    def advance(self) -> None:
        """Adds a point to the curve; saves, if the last checkpoint is old or this is the end.

        Raises:
          FileError: as for `save`.
        """
        started = time.perf_counter()
        state, metrics = self._after(self._updates, self._evaluate)
        curve = self.curve.with_point(self._steps(len(self.curve) + 1), self._whole(metrics))
        progress = self._progress_to(state, curve.metrics["greedy_return"] if self._evaluate else curve.returns)
        self._progress, self.curve = progress, curve  # in one statement: they fit together whenever Ctrl-C comes
        steps = self._updates * self._learner.steps_per_update * self._run.num_agents
        self._steps_per_second = steps / (time.perf_counter() - started) if self._is_compiled else math.nan
        self._is_compiled = True
        is_old = time.monotonic() - self._saved > max(self._checkpoint_seconds, self._seconds_to_save / _SHARE)
        if self.is_finished or distributed.any_says(is_old):
            self.save()

    def save(self) -> None:
        """Writes curve and metrics, then the checkpoint: with a finished checkpoint, all of the curve is there too.

        Raises:
          FileError: a file cannot be written; its previous content stays.
        """
        if self._folder is None:
            return
        started = time.monotonic()
        state, best, best_return = self._progress
        progress = Progress(self._whole(state), self._whole(best), best_return)
        if distributed.is_first():
            names = self._run.names
            replace(self._folder / CURVE_CSV, self.curve.to_csv(names).encode())
            replace(self._folder / METRICS_CSV, self.curve.metrics_to_csv(names).encode())
            saved = _Saved(self.curve.to_record(), self._on_a_device)
            checkpoint.save(self._folder / CHECKPOINT, progress, dataclasses.asdict(saved))
        self._saved = time.monotonic()
        self._seconds_to_save = self._saved - started

    def picture(self) -> bytes:
        """The learning curve as a PNG."""
        return self.curve.to_png(f"{self._run.algorithm} in {self._run.env_id}", self._run.groups)

    def _after(self, num_updates: int, evaluate: Evaluate | None) -> tuple[Any, Metrics]:
        """So many updates later, the state of every agent, and its metrics."""
        number = np.int32(len(self.curve))
        return _point(self._learner, num_updates, evaluate, self._sharding, self._progress.state, self._keys, number)

    def _progress_to(self, state: Any, returns: Sequence[Sequence[float]]) -> Progress:
        """The progress of all agents with their next state, by the mean returns of each at every point so far."""
        before, latest = self._progress, np.array(returns[-1], np.float32)
        is_better = latest > before.best_return  # not if NaN, where no episode ended
        # Here and not in the program of a point, in which each array of an agent would be a kernel more to compile.
        best = state.agent if is_better.all() else before.best
        if is_better.any() and not is_better.all():
            best = _chosen(self._placed(is_better), state.agent, before.best)
        return Progress(state, best, np.where(is_better, latest, before.best_return))

    def _steps(self, points: int) -> int:
        """The steps of each agent up to a point of the curve, from 1."""
        return points * self._updates * self._learner.steps_per_update

    def _placed(self, tree: Any) -> Any:
        """Values of all agents, split over the devices."""
        if self._sharding is None:
            return tree
        rows = np.minimum(np.arange(self._on_a_device * self._sharding.mesh.size), self._run.num_agents - 1)
        return distributed.placed(jax.tree.map(lambda x: x[rows], tree), self._sharding)

    def _whole(self, tree: Any) -> Any:
        """Values of all agents, in every process: the inverse of `_placed`."""
        if self._sharding is None:
            return tree
        return jax.tree.map(lambda x: x[: self._run.num_agents], distributed.whole(tree))


@functools.partial(jax.jit, static_argnums=(0, 1))
def _start(learner: Learner, sharding: NamedSharding | None, starts: Any) -> Any:
    return spread(each_agent(learner.init), sharding, (True,))(starts)


@functools.partial(jax.jit, static_argnums=(0, 1, 2, 3))
def _point(
    learner: Learner,
    num_updates: int,
    evaluate: Evaluate | None,
    sharding: NamedSharding | None,
    states: Any,
    keys: jax.Array,
    number: Any,
) -> tuple[Any, Metrics]:
    """The state of every agent after so many updates, and its metrics: sums over episodes, means over updates.

    Args:
      learner, evaluate, sharding: as for `Training`.
      num_updates: of every agent.
      states: of every agent.
      keys: of every agent, for its evaluation.
      number: of the point, int32 ().
    """

    def of_agent(state: Any) -> tuple[Any, Metrics]:
        state, found = jax.lax.scan(lambda state, _: learner.update(state), state, length=num_updates)
        metrics = {name: jnp.nanmean(x) for name, x in found.items() if name not in ("returns", "episodes")}
        return state, {name: found[name].sum(dtype=found[name].dtype) for name in ("returns", "episodes")} | metrics

    def of_all(states: Any, keys: jax.Array, number: Any) -> tuple[Any, Metrics]:
        states, metrics = each_agent(of_agent)(states)
        if evaluate:
            keys = jax.vmap(random.fold_in, (0, None))(keys, number)
            metrics["greedy_return"] = evaluate(states.agent, keys).mean(1)
        return states, metrics

    return spread(of_all, sharding, (True, True, False))(states, keys, number)


@jax.jit
def _chosen(is_first: jax.Array, first: Any, second: Any) -> Any:
    """For each agent, `first` or `second`."""
    return jax.vmap(trees.where)(is_first, first, second)
