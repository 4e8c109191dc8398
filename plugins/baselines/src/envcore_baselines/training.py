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
import itertools
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, trees
from envcore.devices import spread
from envcore.environment import Environment
from envcore.files import replace
from envcore.random import key_of
from envcore_runs import checkpoint, distributed, user_modules
from envcore_runs import folder as run_folder
from envcore_runs.choice import choose
from envcore_runs.folder import RUN
from envcore_runs.records import Natural, Positive
from jax.sharding import NamedSharding

from envcore_baselines import algorithms
from envcore_baselines.curve import Curve, Point
from envcore_baselines.learner import Constants, Learner, Metrics, each_agent
from envcore_baselines.sweep import Swept

CHECKPOINT = "checkpoint.safetensors"
CURVE_CSV, CURVE_PNG = "curve.csv", "curve.png"

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
        """The swept settings of each group of `num_seeds` agents, the last setting fastest; [{}] without a sweep."""
        return [dict(zip(self.sweep, values, strict=True)) for values in itertools.product(*self.sweep.values())]

    @property
    def agents(self) -> list[tuple[dict[str, float], int]]:
        """The swept settings and the seed of each agent: those of the first combination, then those of the next."""
        return list(itertools.product(self.combinations, range(self.seed, self.seed + self.num_seeds)))

    @property
    def groups(self) -> list[str]:
        """The names of the combinations of a sweep; [""] without one."""
        # With as many digits as tell a value from others in float32.
        return [" ".join(f"{name}={value:.9g}" for name, value in each.items()) for each in self.combinations]

    @property
    def names(self) -> list[str]:
        """The name of each agent, such as "seed_0", or in a sweep "learning_rate=0.001 seed_0"."""
        seeds = range(self.seed, self.seed + self.num_seeds)
        return [f"{group} seed_{seed}".strip() for group in self.groups for seed in seeds]

    @property
    def keys(self) -> jax.Array:
        """The random key of each agent, that of its seed: typed keys (agents,)."""
        return jnp.stack([key_of(seed) for _, seed in self.agents])

    @property
    def starts(self) -> Any:
        """What `learner.init` takes, for each agent: its key, in a sweep also its settings."""
        if not self.sweep:
            return self.keys
        return self.keys, {name: np.array([each[name] for each, _ in self.agents], np.float32) for name in self.sweep}

    def of_agent(self, number: int) -> Run:
        """The run that would have trained this agent alone."""
        values, seed = self.agents[number]
        return dataclasses.replace(self, config={**self.config, **values}, seed=seed, num_seeds=1, sweep={})

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
        network = (self.network or None) if network is None else network
        config = algorithms.config(algorithm, None, self.config, RUN)
        is_theirs = network is not None or not isinstance(algorithm, str) or user_modules.is_reference(algorithm)
        make = _learner.__wrapped__ if is_theirs else _learner
        return make(algorithm, env, Constants(params), config, network, tuple(self.sweep))


class _Agents(NamedTuple):
    """The state of the agents, and each at its best point so far; every leaf has a leading axis for them."""

    state: Any
    best: Any


def saved_curve(folder: str | Path) -> Curve:
    """The learning curve at the last checkpoint of a run.

    Raises:
      FileError: there is no checkpoint, or it is damaged.
    """
    return checkpoint.load(Path(folder) / CHECKPOINT, Curve)[1]


def _hashable(option: Any) -> Any:
    """An option as it was before JSON, which has no tuples."""
    return tuple(_hashable(each) for each in option) if isinstance(option, list) else option


@functools.lru_cache(maxsize=16)
def _learner(
    algorithm: algorithms.Algorithm, env: Environment, params: Constants, config: Any, network: Any, names: Any
) -> Learner:
    """A learner, in which settings of these names are swept. Programs are compiled for each learner."""

    def make(config: Any) -> Learner:
        return algorithms.learner(algorithm, env, params.tree, config, network)

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
        self._learner, self._folder, self._evaluate = learner, folder, evaluate
        self._checkpoint_seconds = _SECONDS if checkpoint_seconds is None else checkpoint_seconds
        num_devices = 1 if sharding is None else sharding.mesh.size
        self._sharding = sharding if num_devices > 1 else None
        self._names = run.names
        num_agents = len(self._names)
        self._rows = np.minimum(np.arange(-(-num_agents // num_devices) * num_devices), num_agents - 1)
        self._updates = -(-learner.num_updates // _POINTS)
        self.num_points = -(-learner.num_updates // self._updates)
        keys, starts = run.keys, run.starts
        self._keys = self._placed(keys)
        if folder and (path := folder / CHECKPOINT).exists():
            tensors, self.curve = checkpoint.load(path, Curve)
            state = jax.eval_shape(each_agent(learner.init), starts)
            self._agents = self._placed(checkpoint.restore(path, tensors, _Agents(state, state.agent), keys))
        else:
            state = _start(learner, self._sharding, self._placed(starts))
            self._agents, self.curve = _Agents(state, state.agent), Curve(num_agents)
        if folder:
            run_folder.check_agreed(folder, len(self.curve))
        self._saved, self._seconds_to_save = time.monotonic(), 0.0
        self._steps_per_second, self._is_compiled = math.nan, False

    @property
    def is_finished(self) -> bool:
        """Whether the curve is complete."""
        return len(self.curve) >= self.num_points

    @property
    def agents(self) -> Any:
        """The agents so far, every leaf with a leading axis for them."""
        return self._whole(self._agents.state.agent)

    @property
    def best_agents(self) -> Any:
        """Each agent at its best point so far, by its greedy episodes or else its training: leaves as for `agents`."""
        return self._whole(self._agents.best)

    @property
    def point(self) -> Point:
        """The last point of the curve, which is not empty."""
        curve = self.curve
        metrics = {name: values[-1] for name, values in curve.metrics.items()}
        share = min(len(curve) / self.num_points, 1.0)
        return Point(curve.steps[-1], self._names, curve.array()[-1], metrics, self._steps_per_second, share)

    def advance(self) -> None:
        """Adds a point to the curve; saves, if the last checkpoint is old or this is the end.

        Raises:
          FileError: as for `save`.
        """
        started, (state, best), number = time.perf_counter(), self._agents, len(self.curve)
        state, metrics = _point(
            self._learner, self._updates, self._evaluate, self._sharding, state, self._keys, np.int32(number)
        )
        steps = self._updates * self._learner.steps_per_update
        curve = self.curve.with_point((number + 1) * steps, self._whole(metrics))
        *before, latest = curve.array("greedy_return" if self._evaluate else "return")
        is_better = latest > np.fmax.reduce(before, initial=-np.inf)  # not if NaN, where no episode ended
        # Here and not in the program of a point, in which each array of an agent would be a kernel more to compile.
        if is_better.all():
            best = state.agent
        elif is_better.any():
            best = _chosen(self._placed(is_better), state.agent, best)
        # In one statement: they fit together whenever Ctrl-C comes.
        self._agents, self.curve = _Agents(state, best), curve
        seconds = time.perf_counter() - started
        self._steps_per_second = steps * len(self._names) / seconds if self._is_compiled else math.nan
        self._is_compiled = True
        is_old = time.monotonic() - self._saved > max(self._checkpoint_seconds, self._seconds_to_save / _SHARE)
        if self.is_finished or distributed.any_says(is_old):
            self.save()

    def save(self) -> None:
        """Writes the curve, then the checkpoint: with a finished checkpoint, all of the curve is there too.

        Raises:
          FileError: a file cannot be written; its previous content stays.
        """
        if self._folder is None:
            return
        started = time.monotonic()
        agents = self._whole(self._agents)
        if distributed.is_first():
            replace(self._folder / CURVE_CSV, self.curve.to_csv(self._names).encode())
            checkpoint.save(self._folder / CHECKPOINT, agents, dataclasses.asdict(self.curve))
        self._saved = time.monotonic()
        self._seconds_to_save = self._saved - started

    def _placed(self, tree: Any) -> Any:
        """Values of all agents, split over the devices."""
        if self._sharding is None:
            return tree
        return distributed.placed(jax.tree.map(lambda x: x[self._rows], tree), self._sharding)

    def _whole(self, tree: Any) -> Any:
        """Values of all agents, in every process: the inverse of `_placed`."""
        if self._sharding is None:
            return tree
        return jax.tree.map(lambda x: x[: len(self._names)], distributed.whole(tree))


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
