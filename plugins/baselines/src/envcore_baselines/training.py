"""Training: agents side by side, with a checkpoint, a learning curve and metrics in a folder.

The agents differ in their seeds, and in a sweep also in settings. All of them are one compiled program, on each device
`vmap` of a `scan` of updates. It is called once for each point of the curve, so a run that is killed continues from its
last checkpoint and ends with the same files, bit for bit.

For one device, and for each number of agents on a device, XLA compiles another program, and their roundings differ. On
several devices an agent's numbers do not depend on how many devices there are, or on the agents of the others.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import checks, random, trees
from envcore.devices import spread
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError
from envcore.files import replace
from envcore.random import key_of
from envcore_runs import checkpoint, distributed, memory, signals
from envcore_runs import folder as run_folder
from envcore_runs.choice import choice_of
from jax.sharding import NamedSharding

from envcore_baselines import algorithms
from envcore_baselines.curve import Curve, Point
from envcore_baselines.learner import Constants, Learner, Metrics, each_agent
from envcore_baselines.run import CHECKPOINT, Agents, Run, restored
from envcore_baselines.trained import TrainedAgent, play

CURVE_CSV, CURVE_PNG = "curve.csv", "curve.png"

_POINTS = 100
_SECONDS = 5.0  # between checkpoints
_SHARE = 0.1  # of the time that saving may take

Callback = Callable[[Point], bool | None]


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
    callback: Callback | None = None,
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
        returns True, in any process, the training ends. What was trained until then is saved, in a single process also
        where it raises an error. Those of `envcore_baselines.loggers` write to TensorBoard and the like.
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
    seconds = _SECONDS if checkpoint_seconds is None else checkpoint_seconds
    claimed = run_folder.claimed(folder, dataclasses.asdict(run)) if folder else contextlib.nullcontext()
    with claimed, memory.explained("seeds", run.num_seeds):
        agents, curve = _train(run, learner, Constants(made[1]), folder, sharding, callback, seconds)
        if folder and distributed.is_first():
            replace(folder / CURVE_PNG, curve.to_png(f"{run.algorithm} in {run.env_id}", run.groups))
    parameters = agents.state.agent
    return Trained(
        run,
        np.array(curve.steps, np.int64),
        run.names,
        curve.array(),
        curve.last_returns,
        curve.metrics,
        TrainedAgent.of_agents(run, *made, learner, parameters),
        TrainedAgent.of_agents(run, *made, learner, agents.best),
        parameters,
    )


def _train(
    run: Run,
    learner: Learner,
    params: Constants,
    folder: Path | None,
    sharding: NamedSharding,
    callback: Callback | None,
    checkpoint_seconds: float,
) -> tuple[Agents, Curve]:
    """Trains the agents of a run until its curve is complete, `callback` returns True, or a signal comes.

    The agents are split over devices. Where their number is not a multiple of that of the devices, the last one is
    trained several times; its copies are left out of all results.

    Args:
      run: what is trained.
      learner, params: the algorithm, for the run's environment, and the params of that.
      folder: of the run; its checkpoint, if it has one, is where training continues. All processes have to see it, and
        process 0 writes. None keeps nothing.
      sharding: the devices.
      callback, checkpoint_seconds: as for `train`.
    """
    names, num_devices = run.names, sharding.mesh.size
    rows = np.minimum(np.arange(-(-len(names) // num_devices) * num_devices), len(names) - 1)
    split = sharding if num_devices > 1 else None

    def placed(tree: Any) -> Any:
        """Values of all agents, split over the devices."""
        return distributed.placed(jax.tree.map(lambda x: x[rows], tree), split) if split else tree

    def whole(tree: Any) -> Any:
        """Values of all agents, in every process: the inverse of `placed`."""
        return jax.tree.map(lambda x: x[: len(names)], distributed.whole(tree)) if split else tree

    num_updates = -(-learner.num_updates // _POINTS)
    num_points = -(-learner.num_updates // num_updates)
    keys = placed(run.keys)
    if folder and (folder / CHECKPOINT).exists():
        agents, curve = restored(folder, run, learner)
        agents = placed(agents)
    else:
        state = _start(learner, split, placed(run.starts))
        agents, curve = Agents(state, state.agent), Curve(len(names))
    if folder:
        run_folder.check_agreed(folder, len(curve))
    saved, pause, is_compiled, is_over, signum = time.monotonic(), checkpoint_seconds, False, False, 0

    def save() -> None:
        """Writes the curve, then the checkpoint: with a finished checkpoint, all of the curve is there too."""
        nonlocal saved, pause
        if folder:
            started, everything = time.monotonic(), whole(agents)
            if distributed.is_first():
                replace(folder / CURVE_CSV, curve.to_csv(names).encode())
                checkpoint.save(folder / CHECKPOINT, everything, dataclasses.asdict(curve))
            saved = time.monotonic()
            pause = max(checkpoint_seconds, (saved - started) / _SHARE)

    with signals.noted() as noted:
        while len(curve) < num_points and not (is_over or signum):
            started, number, evaluated = time.perf_counter(), np.int32(len(curve)), run.evaluation_episodes
            state, metrics = _point(learner, params, num_updates, evaluated, split, agents.state, keys, number)
            steps = num_updates * learner.steps_per_update
            curve = curve.with_point((len(curve) + 1) * steps, whole(metrics))
            *before, latest = curve.array("greedy_return" if evaluated else "return")
            is_better, best = latest > np.fmax.reduce(before, initial=-np.inf), agents.best  # not if NaN: none ended
            # Here and not in the program of a point, in which each array of an agent would be a kernel more to compile.
            if is_better.all():
                best = state.agent
            elif is_better.any():
                best = _chosen(placed(is_better), state.agent, best)
            agents = Agents(state, best)
            speed = steps * len(names) / (time.perf_counter() - started) if is_compiled else math.nan
            is_compiled = True
            if len(curve) == num_points or distributed.any_says(time.monotonic() - saved > pause):
                save()
            found = {name: values[-1] for name, values in curve.metrics.items()}
            point = Point(curve.steps[-1], names, curve.array()[-1], found, speed, len(curve) / num_points)
            try:
                is_over = callback is not None and bool(callback(point))
            except BaseException:
                if jax.process_count() == 1:  # other processes would not take part
                    save()
                raise
            is_over, signum = distributed.gathered(np.array([[is_over, noted()]], np.float64)).max(0)
    if len(curve) < num_points:
        save()
    if signum:
        signals.stop(int(signum))
    return whole(agents), curve


@functools.partial(jax.jit, static_argnums=(0, 1))
def _start(learner: Learner, sharding: NamedSharding | None, starts: Any) -> Any:
    return spread(each_agent(learner.init), sharding, (True,))(starts)


@functools.partial(jax.jit, static_argnums=(0, 1, 2, 3, 4))
def _point(
    learner: Learner,
    params: Constants,
    num_updates: int,
    evaluation_episodes: int,
    sharding: NamedSharding | None,
    states: Any,
    keys: jax.Array,
    number: Any,
) -> tuple[Any, Metrics]:
    """The state of every agent after so many updates, and its metrics: sums over episodes, means over updates.

    Args:
      learner: of the agents.
      params: of its environment.
      num_updates, evaluation_episodes: of every agent.
      sharding: the devices; None for one.
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
        if evaluation_episodes:
            keys = jax.vmap(random.fold_in, (0, None))(keys, number)
            returns, _ = play(learner, params.tree, states.agent, keys, evaluation_episodes, True)
            metrics["greedy_return"] = returns.mean(1)
        return states, metrics

    return spread(of_all, sharding, (True, True, False))(states, keys, number)


@jax.jit
def _chosen(is_first: jax.Array, first: Any, second: Any) -> Any:
    """For each agent, `first` or `second`."""
    return jax.vmap(trees.where)(is_first, first, second)


def _plain(value: Any) -> Any:
    """Numpy's numbers as Python's, which JSON can hold."""
    return value.tolist() if hasattr(value, "tolist") else value
