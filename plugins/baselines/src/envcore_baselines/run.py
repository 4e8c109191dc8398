"""A training run: its settings, and loading the files in its folder."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from envcore.environment import Environment
from envcore.errors import FileError
from envcore.random import key_of
from envcore_runs import checkpoint, user_modules
from envcore_runs import folder as run_folder
from envcore_runs.choice import choose
from envcore_runs.folder import CHECKPOINT, RUN

from envcore_baselines import algorithms
from envcore_baselines.curve import Curve
from envcore_baselines.learner import Constants, Learner, each_agent
from envcore_baselines.sweep import Swept


@dataclasses.dataclass(frozen=True)
class Run:
    """All settings of a training, saved in run.json. The same run gives the same results.

    Attributes:
      algorithm: name of the algorithm.
      env_id: id of the environment, for `envcore.make`.
      options: constructor options of the environment.
      params: params of the environment that differ from the defaults.
      config: settings of the algorithm.
      seed: seed of the first agent. The others have the next seeds.
      num_seeds: number of agents, or of agents per combination of a sweep.
      sweep: values of the swept settings. Every combination is trained.
      randomize: params drawn for each episode, each with its lowest and highest value.
      network: `MODULE:NAME` of the user's network, or empty for the algorithm's default.
      evaluation_episodes: greedy episodes that each agent plays at each point of the curve.
    """

    algorithm: str
    env_id: str
    options: dict[str, Any]
    params: dict[str, Any]
    config: dict[str, Any]
    seed: int
    num_seeds: int
    sweep: dict[str, list[int | float]] = dataclasses.field(default_factory=dict[str, list[int | float]])
    randomize: dict[str, list[int | float]] = dataclasses.field(default_factory=dict[str, list[int | float]])
    network: str = ""
    evaluation_episodes: int = 0

    def __post_init__(self) -> None:
        # JSON has no tuples.
        object.__setattr__(self, "options", {name: _hashable(value) for name, value in self.options.items()})

    @classmethod
    def load(cls, folder: str | Path) -> Run:
        """Loads the run in a folder.

        Raises:
          FileError: the folder contains no training, or its file is damaged.
        """
        if "config" not in run_folder.load(folder, dict[str, Any]):
            raise FileError(f"{folder} holds another run, not a training.")
        return run_folder.load(folder, cls)

    @property
    def combinations(self) -> list[dict[str, float]]:
        """The swept settings of each group of `num_seeds` agents, the last varying fastest. [{}] without a sweep."""
        return [dict(zip(self.sweep, values, strict=True)) for values in itertools.product(*self.sweep.values())]

    @property
    def agents(self) -> list[tuple[dict[str, float], int]]:
        """The swept settings and the seed of each agent, one combination after another."""
        return list(itertools.product(self.combinations, range(self.seed, self.seed + self.num_seeds)))

    @property
    def groups(self) -> list[str]:
        """The names of the combinations of a sweep, or [""] without a sweep."""
        # Nine digits distinguish all float32 values.
        return [" ".join(f"{name}={value:.9g}" for name, value in each.items()) for each in self.combinations]

    @property
    def names(self) -> list[str]:
        """The name of each agent, such as "seed_0", or in a sweep "learning_rate=0.001 seed_0"."""
        seeds = range(self.seed, self.seed + self.num_seeds)
        return [f"{group} seed_{seed}".strip() for group in self.groups for seed in seeds]

    @functools.cached_property
    def keys(self) -> jax.Array:
        """The random key of each agent, made from its seed, typed keys (agents,)."""
        # Stacked by numpy, because a program that joins thousands of keys takes minutes to compile.
        words = np.stack([jax.random.key_data(key_of(self.seed + number)) for number in range(self.num_seeds)])
        return jax.random.wrap_key_data(jax.numpy.asarray(np.tile(words, (len(self.combinations), 1))))

    @property
    def starts(self) -> Any:
        """The argument of `learner.init` for each agent: its key, and in a sweep also its settings."""
        if not self.sweep:
            return self.keys
        return self.keys, {name: np.array([each[name] for each, _ in self.agents], np.float32) for name in self.sweep}

    def of_agent(self, number: int) -> Run:
        """The run that would train this agent alone."""
        values, seed = self.agents[number]
        return dataclasses.replace(self, config={**self.config, **values}, seed=seed, num_seeds=1, sweep={})

    def make(self) -> tuple[Environment, Any]:
        """Makes the environment and its params."""
        choice = choose(self.env_id, self.options, self.params)
        return dataclasses.replace(choice, randomize=self.randomize).make()

    def learner(self, env: Environment, params: Any, algorithm: Any = None, network: Any = None) -> Learner:
        """Makes the learner with the run's settings, for an environment.

        For equal settings of a registered algorithm you get the same object, so its programs are compiled once.

        Args:
          env, params: the environment and its params.
          algorithm, network: objects to use instead of the run's names, if they cannot be imported by name.

        Raises:
          ConfigError: the settings do not fit the environment or cannot be swept, or a user's algorithm fails.
        """
        algorithm = self.algorithm if algorithm is None else algorithm
        network = (self.network or None) if network is None else network
        config = algorithms.config(algorithm, None, self.config, RUN)
        is_theirs = network is not None or not isinstance(algorithm, str) or user_modules.is_reference(algorithm)
        make = _learner.__wrapped__ if is_theirs else _learner
        return make(algorithm, env, Constants(params), config, network, tuple(self.sweep))


class Agents(NamedTuple):
    """The agents of a run. Every leaf has a leading axis for them.

    Attributes:
      state: states of the agents, as `learner.update` returns them.
      best: each agent at its best point so far, by greedy return, or by training return without evaluation.
    """

    state: Any
    best: Any


def restored(folder: str | Path, run: Run, learner: Learner) -> tuple[Agents, Curve]:
    """Loads the agents and the learning curve from the last checkpoint of a run.

    Raises:
      FileError: there is no checkpoint, it is damaged, or it does not fit the learner.
    """
    if not (path := Path(folder) / CHECKPOINT).exists():
        raise FileError(f"{folder} holds no trained agents yet: repeat the command that trains them.")
    tensors, curve = checkpoint.load(path, Curve)
    state = jax.eval_shape(each_agent(learner.init), run.starts)
    return checkpoint.restore(path, tensors, Agents(state, state.agent), run.keys), curve


def saved_curve(folder: str | Path) -> Curve:
    """Loads the learning curve from the last checkpoint of a run.

    Raises:
      FileError: there is no checkpoint, or it is damaged.
    """
    return checkpoint.load(Path(folder) / CHECKPOINT, Curve)[1]


def _hashable(option: Any) -> Any:
    """Converts lists in an option back to tuples, which JSON does not have."""
    return tuple(_hashable(each) for each in option) if isinstance(option, list) else option


@functools.lru_cache(maxsize=16)
def _learner(
    algorithm: algorithms.Algorithm, env: Environment, params: Constants, config: Any, network: Any, names: Any
) -> Learner:
    """Makes a learner that sweeps the named settings. Cached, because each learner compiles its programs."""

    def make(config: Any) -> Learner:
        return algorithms.learner(algorithm, env, params.tree, config, network)

    return Swept(make, config, names) if names else make(config)
