"""Trains agents side by side, and saves a checkpoint, a learning curve and metrics in a folder.

Agents differ in their seeds, and in a sweep also in settings. They share one compiled program, which on each device is
`vmap` of a `scan` of updates. The program runs once per point of the curve, so a run that is killed continues from its
last checkpoint and ends with the same files, bit for bit.

XLA compiles a different program for one device and for each number of agents per device, and these programs round
differently. On several devices an agent's results do not depend on the number of devices or on the other devices'
agents.
"""

from __future__ import annotations

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
from envcore_runs.description import described
from envcore_runs.folder import CHECKPOINT
from jax.sharding import NamedSharding

from envcore_baselines import algorithms
from envcore_baselines.curve import Curve, Point
from envcore_baselines.learner import Constants, Learner, Metrics, each_agent
from envcore_baselines.run import Agents, Run, restored
from envcore_baselines.trained import TrainedAgent, play

CURVE_CSV, CURVE_PNG = "curve.csv", "curve.png"

_POINTS = 100
_SHARE = 0.1  # of the time, at most, goes to saving

Callback = Callable[[Point], bool | None]


@dataclasses.dataclass(frozen=True, eq=False)
class TrainingResult:
    """The result of `train`. Agents are in the order of their seeds, and in a sweep combination by combination.

    Attributes:
      run: the run, with all settings of the training.
      steps: environment steps that each agent had taken at each point of the curve, int64 (points,).
      names: the agents' names, such as "seed_0", or in a sweep "learning_rate=0.001 seed_0".
      returns: mean return of the episodes that ended since the previous point, float64 (points, agents). NaN where no
        episode ended.
      last_returns: each agent's return at the last point where one of its episodes had ended, float64 (agents,). NaN if
        no episode ended.
      metrics: metrics of the algorithm's updates, such as the `loss`, and `greedy_return` if you evaluate. Each is
        float64 (points, agents).
      agents: the trained agents, which play and no longer learn.
      best_agents: the same agents at the best points of their curves, by greedy return, or by training return if you do
        not evaluate.
      parameters: the trained parameters, a pytree whose leaves have a leading axis for the agents.
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
    checkpoint_seconds: float = 5.0,
    **settings: Any,
) -> TrainingResult:
    """Trains agents side by side, like the command `envcore train`.

    Args:
      algorithm: the name, such as "ppo", your "MODULE:CLASS", or a class. See `envcore_baselines.learner.Learner`.
      env: anything that `envcore.make` takes, or an environment. An environment is trained with its default params,
        changed by `params`, and with the algorithm's default settings, because tuned settings are found by id.
      seeds: number of agents.
      seed: seed of the first agent. The others have the next seeds. A seed trained alone gives different results than
        the same seed in a group, because of rounding.
      options: constructor options of the environment.
      params: params of the environment that differ from the defaults.
      sweep: values to try, by setting. `seeds` agents are trained with each combination, all in one program. You can
        sweep numbers that the algorithm computes with, such as a learning rate, but no setting that changes shapes.
      randomize: params to draw for each episode, uniformly from the lowest to the highest value. See
        `envcore.wrappers.RandomizeParams`.
      network: your own network, for algorithms that take one. See `envcore_baselines.learner.checked_network`. It
        overrides the settings of the default network.
      evaluation_episodes: greedy episodes that each agent plays at each point of the curve.
      out: folder for the results. If it contains an interrupted run, training continues. By default nothing is saved.
      callback: called with each of about a hundred points of the curve. See `envcore_baselines.curve.Point`. Return
        True, in any process, to stop training early. The agents are saved then, and in a single process also when the
        callback raises an error. Callbacks in `envcore_baselines.loggers` write to TensorBoard and similar tools.
      devices: maximum number of devices per process to split the agents over. By default all.
      checkpoint_seconds: minimum time between two checkpoints in `out`. Checkpoints are written at points of the curve
        and take at most a tenth of the time.
      **settings: settings of the algorithm. They override the environment's tuned settings and the defaults.

    Raises:
      InvalidArgumentError: the seed or a number is invalid. The algorithm, environment or network cannot be imported,
        or you pass `out` and it has no name to import it by.
      ConfigError: there is no such algorithm or setting, or a value is invalid or does not fit the environment.
      NotEnoughMemoryError: the agents do not fit into memory.
      EnvcoreError: as for `envcore.make`.
      FileError: the folder contains another run or cannot be written.
      KeyboardInterrupt, SystemExit: you pressed Ctrl-C, or SIGTERM arrived. The training is saved.
    """
    checks.positive_integer("seeds", seeds, InvalidArgumentError, at_most=2**20)
    if devices is not None:
        checks.positive_integer("devices", devices, InvalidArgumentError)
    _ = key_of(seed)
    if not isinstance(evaluation_episodes, int | np.integer) or not 0 <= evaluation_episodes <= 1_000_000:
        raise InvalidArgumentError(f"evaluation_episodes must be from 0 to 1,000,000, got {evaluation_episodes!r}.")
    is_saved = out is not None
    choice = dataclasses.replace(choice_of(env, options, params, is_saved=is_saved), randomize=randomize or {})
    made = choice.make()
    config = algorithms.config(algorithm, choice.found.spec.id, settings)
    grid = algorithms.grid(algorithm, sweep or {})
    if both := grid.keys() & settings.keys():
        raise InvalidArgumentError(f"{min(both)} is both a setting and swept: pass it once.")
    run = Run(
        algorithms.name_of("algorithm", algorithm, is_saved=is_saved),
        choice.title,
        described(choice.options),
        described(choice.params),
        dataclasses.asdict(config),
        int(seed),
        int(seeds),
        grid,
        described(choice.randomize),
        "" if network is None else algorithms.name_of("network", network, is_saved=is_saved),
        int(evaluation_episodes),
    )
    learner, folder = run.learner(*made, algorithm, network), None if out is None else Path(out).absolute()
    sharding = distributed.sharding_of_some(len(run.agents), devices)
    advice = "Train fewer agents at once, or choose a smaller num_envs or replay_capacity."
    with run_folder.claimed(folder, dataclasses.asdict(run)), memory.explained("this training", advice):
        agents, curve = _train(run, learner, Constants(made[1]), folder, sharding, callback, checkpoint_seconds)
        if folder and distributed.is_first():
            replace(folder / CURVE_PNG, curve.to_png(f"{run.algorithm} in {run.env_id}", run.groups))
    return TrainingResult(
        run,
        np.array(curve.steps, np.int64),
        run.names,
        curve.array(),
        curve.last_returns,
        curve.metrics,
        TrainedAgent.of_agents(run, *made, learner, agents.state.agent),
        TrainedAgent.of_agents(run, *made, learner, agents.best),
        agents.state.agent,
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

    The agents are split over devices. If the number of agents is not a multiple of the number of devices, copies of the
    last agent fill the gap. The results leave the copies out.

    Args:
      run: the run to train.
      learner, params: the algorithm and the params of the run's environment.
      folder: folder of the run, or None to save nothing. Training continues from its checkpoint, if there is one. All
        processes must see the folder, and process 0 writes it.
      sharding: the devices.
      callback, checkpoint_seconds: as for `train`.
    """
    names, num_devices = run.names, sharding.mesh.size
    rows = np.minimum(np.arange(-(-len(names) // num_devices) * num_devices), len(names) - 1)
    split = sharding if num_devices > 1 else None

    def placed(tree: Any) -> Any:
        """Splits the values of all agents over the devices."""
        return distributed.placed(jax.tree.map(lambda x: x[rows], tree), split) if split else tree

    def whole(tree: Any) -> Any:
        """Gathers the values of all agents in every process, the inverse of `placed`."""
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
        """Writes the curve, then the checkpoint, so that a finished checkpoint always has a complete curve."""
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
            # False for NaN, if no episode ended.
            is_better, best = latest > np.fmax.reduce(before, initial=-np.inf), agents.best
            # Not in the compiled program, where it would be one more kernel to compile per array of an agent.
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
                if jax.process_count() == 1:  # saving needs all processes
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
    """Trains all agents up to the next point. Metrics are sums over episodes and means over updates.

    Args:
      learner: the algorithm.
      params: params of its environment.
      num_updates, evaluation_episodes: updates and greedy episodes of each agent.
      sharding: the devices, or None for one device.
      states: states of all agents.
      keys: keys of all agents, for evaluation.
      number: index of the point, int32 ().

    Returns:
      The next states and the metrics.
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
    """Selects `first` or `second` for each agent."""
    return jax.vmap(trees.where)(is_first, first, second)
