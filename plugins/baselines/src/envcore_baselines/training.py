"""A run: agents of several seeds that are trained side by side, with a checkpoint and a learning curve in a folder.

All seeds are one compiled program, on each device `vmap` of a `scan` of updates. It is called once for each point of
the curve, so a run that is killed continues from its last checkpoint and ends with the same files, bit for bit.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from envcore.devices import spread
from envcore.environment import Environment
from envcore.errors import FileError
from envcore.files import replace
from envcore.random import key_of
from envcore_runs import checkpoint, placement, processes, run_folder
from envcore_runs.choice import choose
from envcore_runs.records import File, Natural, Positive, Range
from envcore_runs.run_folder import RUN
from jax.sharding import NamedSharding

from envcore_baselines import algorithms
from envcore_baselines.curve import Curve, CurveRecord
from envcore_baselines.learner import Learner, Totals

CHECKPOINT, CURVE_CSV, CURVE_PNG = "checkpoint.safetensors", "curve.csv", "curve.png"

_POINTS = 100
_SECONDS = 5.0  # between checkpoints


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
      num_seeds: number of agents.
    """

    algorithm: str
    env_id: str
    options: dict[str, Any]
    params: dict[str, Any]
    config: dict[str, Any]
    seed: Natural
    num_seeds: Annotated[int, Range(1, algorithms.MAX_SEEDS)]

    def __post_init__(self) -> None:
        # JSON has no tuples.
        object.__setattr__(self, "options", {name: _hashable(value) for name, value in self.options.items()})

    @classmethod
    def load(cls, folder: Path) -> Run:
        """The run of a folder.

        Raises:
          FileError: the folder holds none, or its file is damaged.
        """
        return run_folder.load(folder, cls)

    @property
    def keys(self) -> jax.Array:
        """The random key of each agent: those of the seeds from `seed` on."""
        return jnp.stack([key_of(self.seed + number) for number in range(self.num_seeds)])

    def make(self) -> tuple[Environment, Any]:
        """The environment and its params."""
        return dataclasses.replace(choose(self.env_id), options=self.options, params=self.params).make()

    def learner(self, env: Environment, params: Any) -> Learner:
        """The algorithm with the run's settings, for an environment."""
        return algorithms.learner(
            self.algorithm, env, params, algorithms.config(self.algorithm, None, self.config, RUN)
        )

    def claimed(self, folder: Path) -> AbstractContextManager[None]:
        """Creates this run's folder, or checks that it is this run's, and locks it; see `run_folder.claimed`.

        Raises:
          FileError, ProcessError: as there, when the block begins.
        """
        return run_folder.claimed(folder, dataclasses.asdict(self))


@dataclasses.dataclass(frozen=True)
class _Saved:
    """What a checkpoint says beside its arrays."""

    curve: CurveRecord
    agents_on_a_device: Positive | None = None


def _load(folder: Path, num_seeds: int) -> tuple[dict[str, np.ndarray], _Saved]:
    tensors, saved = checkpoint.load(folder / CHECKPOINT, _Saved)
    if saved.curve.num_seeds != num_seeds:
        raise File(folder / CHECKPOINT).damaged(f"it has {saved.curve.num_seeds:,} agents, of {num_seeds:,}")
    return tensors, saved


def saved_curve(run: Run, folder: Path) -> Curve:
    """The learning curve at the last checkpoint of a run.

    Raises:
      FileError: there is no checkpoint, it is damaged, or it is one of another number of agents.
    """
    return Curve.of_record(_load(folder, run.num_seeds)[1].curve)


def _hashable(option: Any) -> Any:
    """An option as it was before JSON, which has no tuples."""
    return tuple(_hashable(each) for each in option) if isinstance(option, list) else option


class Training:
    """Trains the agents of a run, one point of the learning curve at a time.

    The agents are split over devices. Where their number is not a multiple of that of the devices, the last one is
    trained several times; its copies are left out of all results.

    Args:
      learner: the algorithm, for the run's environment.
      keys: the random key of each agent, typed keys (num_seeds,).
      folder: of the run; its checkpoint, if it has one, is where training continues. All processes have to see it, and
        process 0 writes. None keeps nothing.
      sharding: the devices; None for one.
      first_seed: the first agent's, which names its column in the curve's file.

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
        keys: jax.Array,
        folder: Path | None,
        sharding: NamedSharding | None = None,
        first_seed: int = 0,
    ):
        self._learner, self._folder, self._num_seeds, self._first_seed = learner, folder, len(keys), first_seed
        self._sharding = None if sharding is None or sharding.mesh.size == 1 else sharding
        self._updates = -(-learner.num_updates // _POINTS)
        self.num_points = -(-learner.num_updates // self._updates)
        self._on_a_device = -(-len(keys) // (1 if self._sharding is None else self._sharding.mesh.size))
        self.is_split_anew = False
        if folder and (path := folder / CHECKPOINT).exists():
            tensors, saved = _load(folder, len(keys))
            self.curve = Curve.of_record(saved.curve)
            if self.curve.steps != [self._steps(number + 1) for number in range(min(len(self.curve), self.num_points))]:
                raise File(path).damaged("the steps of its curve are not those of the run")
            struct = jax.eval_shape(jax.vmap(learner.init), keys)
            self._state = self._placed(checkpoint.restore(path, tensors, struct, keys))
            self.is_split_anew = (saved.agents_on_a_device or self._on_a_device) != self._on_a_device
        else:
            self._state, self.curve = _start(learner, self._sharding, self._placed(keys)), Curve(len(keys))
        if folder:
            run_folder.check_agreed(folder, len(self.curve))
        self._saved = time.monotonic()

    @classmethod
    def load(cls, learner: Learner, num_seeds: int, folder: Path) -> Self:
        """The training at its last checkpoint; of `num_seeds` agents.

        Raises:
          FileError: there is none yet, or it is damaged or does not fit.
        """
        if not (folder / CHECKPOINT).exists():
            raise FileError(f"{folder} has no checkpoint yet.")
        keys = jax.random.split(jax.random.key(0), num_seeds)  # only their number and kind matter
        return cls(learner, keys, folder)

    @property
    def is_finished(self) -> bool:
        """Whether the curve is complete."""
        return len(self.curve) >= self.num_points

    @property
    def agents(self) -> Any:
        """The agents so far, every leaf with a leading axis for the seeds."""
        return self._whole(self._state.agent)

    def advance(self) -> None:
        """Adds a point to the curve; saves, if the last checkpoint is old or this is the end.

        Raises:
          FileError: as for `save`.
          ProcessError: another process has ended.
        """
        state, totals = _point(self._learner, self._updates, self._sharding, self._state)
        curve = self.curve.with_point(self._steps(len(self.curve) + 1), self._whole(totals))
        self._state, self.curve = state, curve  # in one statement: they fit together whenever Ctrl-C comes
        if self.is_finished or processes.any_says(time.monotonic() - self._saved > _SECONDS):
            self.save()

    def seconds_left(self) -> float:
        """About how long the rest takes, by one update, whose program is compiled for this.

        Raises:
          ProcessError: another process has ended.
        """

        def update() -> float:
            started = time.perf_counter()
            jax.block_until_ready(_point(self._learner, 1, self._sharding, self._state))
            return time.perf_counter() - started

        update()  # compiles
        seconds = processes.gathered(np.array([update()])).max()
        return float(seconds) * self._updates * (self.num_points - len(self.curve))

    def save(self) -> None:
        """Writes the curve, then the checkpoint: with a finished checkpoint, the whole curve is there too.

        Raises:
          FileError: a file cannot be written; its previous content stays.
        """
        if self._folder is None:
            return
        state = self._whole(self._state)
        if processes.is_first():
            replace(self._folder / CURVE_CSV, self.curve.to_csv(self._first_seed).encode())
            saved = _Saved(self.curve.to_record(), self._on_a_device)
            checkpoint.save(self._folder / CHECKPOINT, state, dataclasses.asdict(saved))
        self._saved = time.monotonic()

    def _steps(self, points: int) -> int:
        """The steps of each agent up to a point of the curve, from 1."""
        return points * self._updates * self._learner.steps_per_update

    def _placed(self, tree: Any) -> Any:
        """Values of all agents, split over the devices."""
        if self._sharding is None:
            return tree
        rows = np.minimum(np.arange(self._on_a_device * self._sharding.mesh.size), self._num_seeds - 1)
        return placement.placed(jax.tree.map(lambda x: x[rows], tree), self._sharding)

    def _whole(self, tree: Any) -> Any:
        """Values of all agents, in every process: the inverse of `_placed`."""
        if self._sharding is None:
            return tree
        return jax.tree.map(lambda x: x[: self._num_seeds], processes.whole(tree))


@functools.partial(jax.jit, static_argnums=(0, 1))
def _start(learner: Learner, sharding: NamedSharding | None, keys: jax.Array) -> Any:
    return spread(jax.vmap(learner.init), sharding, (True,))(keys)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _point(learner: Learner, num_updates: int, sharding: NamedSharding | None, states: Any) -> tuple[Any, Totals]:
    """The states after so many updates of every seed, and the totals of each seed's episodes."""

    def of_seed(state: Any) -> tuple[Any, Totals]:
        state, totals = jax.lax.scan(lambda state, _: learner.update(state), state, length=num_updates)
        return state, jax.tree.map(lambda x: jnp.sum(x, 0, dtype=x.dtype), totals)

    return spread(jax.vmap(of_seed), sharding, (True,))(states)
