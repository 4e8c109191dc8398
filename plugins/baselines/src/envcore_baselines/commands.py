"""`envcore train` and `envcore evaluate`. Their arguments are checked before a command imports JAX."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from envcore.errors import InvalidArgumentError
from envcore_cli import output
from envcore_cli.assignments import assignments, choose
from envcore_cli.given import given_to
from envcore_cli.options import (
    Cache,
    ConnectTimeout,
    Coordinator,
    Devices,
    EnvId,
    NumProcesses,
    Options,
    Params,
    ProcessId,
    Seed,
    integer,
    path,
)
from envcore_runs.choice import Choice
from envcore_runs.interrupt import interruptible

from envcore_baselines import algorithms, settings
from envcore_baselines.errors import ConfigError

_MANY_STEPS = 10**9
"""Steps of an agent above which their time is estimated before a run begins: most take longer than an hour."""


def train(
    context: typer.Context,
    algorithm: Annotated[
        str, typer.Argument(metavar="ALGO", help=f"The algorithm: {', '.join(algorithms.ALGORITHMS)}.")
    ],
    env_id: EnvId,
    out: Annotated[Path | None, typer.Option(parser=path, metavar="DIR", help="The folder of the run.")] = None,
    seeds: Annotated[
        int, typer.Option(parser=integer, metavar="<int>", help="Number of agents, which are trained side by side.")
    ] = 1,
    seed: Seed = 0,
    setting: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A setting of the algorithm; may be given several times."),
    ] = None,
    option: Options = None,
    set_: Params = None,
    show: Annotated[bool, typer.Option("--show", help="Print the settings, and do not train.")] = False,
    devices: Devices = None,
    coordinator: Coordinator = None,
    num_processes: NumProcesses = None,
    process_id: ProcessId = None,
    connect_timeout: ConnectTimeout = 300,
    cache: Cache = None,
) -> None:
    """Train agents, each on one device.

    DIR gets run.json, checkpoint.safetensors, curve.csv and curve.png. To continue an interrupted run, give the same
    command again: the results are those of a run without an interruption, bit for bit, if each device has as many
    agents as before.
    """
    choice = choose(env_id, option or (), set_ or ())
    name = algorithms.checked(algorithm)
    given = assignments("--setting", setting or (), ConfigError)
    if not 1 <= seeds <= algorithms.MAX_SEEDS:
        raise InvalidArgumentError(f"--seeds must be from 1 to {algorithms.MAX_SEEDS:,}, got {seeds}.")
    if out is None and not show:
        raise InvalidArgumentError("--out DIR is needed: the folder for the results.")
    config = algorithms.config(name, choice.found.spec.id, given)
    if show:
        output.write(settings.as_toml(config, name))
        return
    assert out is not None
    from envcore_runs import processes

    processes.start(given_to(context), devices, coordinator, num_processes, process_id, connect_timeout, cache)
    _train(choice, name, config, out, seeds, seed, devices)


def evaluate(
    folder: Annotated[Path, typer.Argument(parser=path, metavar="DIR", help="The folder of a run.")],
    episodes: Annotated[int, typer.Option(parser=integer, metavar="<int>", help="Episodes of each agent.")] = 100,
    sample: Annotated[
        bool, typer.Option("--sample", help="Sample actions, instead of the most probable ones.")
    ] = False,
    seed: Seed = 0,
) -> None:
    """Measure the return of trained agents."""
    from envcore_baselines.training import Run

    if not 1 <= episodes <= 1_000_000:
        raise InvalidArgumentError(f"--episodes must be from 1 to 1,000,000, got {episodes}.")
    _evaluate(Run.load(folder), folder, episodes, sample, seed)


def _train(choice: Choice, name: str, config: Any, out: Path, num_seeds: int, seed: int, devices: int | None) -> None:
    from envcore_runs import memory, placement

    from envcore_baselines.experiment import run_of

    env, params = choice.make()
    learner = algorithms.learner(name, env, params, config)
    run = run_of(choice, name, config, seed, num_seeds)
    sharding = placement.sharding_of_some(num_seeds, devices)
    memory.check_fits("--seeds", num_seeds, training_bytes(learner), memory.device_bytes(sharding))
    keys = run.keys
    with run.claimed(out):
        _train_in(out, run, learner, keys, sharding)


def _train_in(out: Path, run: Any, learner: Any, keys: Any, sharding: Any) -> None:
    from envcore.files import replace
    from envcore_runs import memory, processes
    from envcore_runs.pace import check_duration

    from envcore_baselines.training import CURVE_PNG, Training

    is_shown = output.console().is_terminal and processes.is_first()
    with (
        output.progress_bar(is_shown=is_shown, transient=True) as progress,
        interruptible(is_shared=not processes.is_alone()),
        memory.explained("--seeds", run.num_seeds),
    ):
        bar = progress.add_task("compiling", total=None)
        training = Training(learner, keys, out, sharding, run.seed)
        if training.is_split_anew and not training.is_finished:
            output.say("note: continued with another number of agents on a device, so the rest can go another way.")
        total = learner.num_updates * learner.steps_per_update
        if total > _MANY_STEPS and not training.is_finished:
            note = check_duration("total_steps =", total, training.seconds_left())
            if note and processes.is_first():
                output.say(note)
        try:
            while not training.is_finished:
                training.advance()
                text = f"{training.curve.steps[-1]:,} steps, return {training.curve.last:.4g}"
                progress.update(bar, description=text, total=training.num_points, completed=len(training.curve))
        except KeyboardInterrupt:
            training.save()
            raise
    if not processes.is_first():
        return
    replace(out / CURVE_PNG, training.curve.to_png(f"{run.algorithm} in {run.env_id}"))
    agents = f"{run.num_seeds} agent{'s' * (run.num_seeds != 1)}"
    output.say(f"{out}: {agents}, {training.curve.steps[-1]:,} steps each; last return {training.curve.last:.4g}.")


def _evaluate(run: Any, folder: Path, episodes: int, sample: bool, seed: int) -> None:
    import functools

    import jax
    import numpy as np
    from envcore.random import key_of
    from envcore_runs import memory
    from rich.table import Table

    from envcore_baselines.evaluation import MAX_STEPS, episode_returns
    from envcore_baselines.training import Training

    env, params = run.make()
    learner = run.learner(env, params)
    training = Training.load(learner, run.num_seeds, folder)
    memory.check_fits("--episodes", episodes, episode_bytes(learner, params, training.agents), memory.device_bytes())
    play = functools.partial(episode_returns, learner, params)
    with output.progress_bar(is_shown=output.console().is_terminal, transient=True) as progress, interruptible():
        keys = jax.random.split(key_of(seed), run.num_seeds)
        played = [
            jax.block_until_ready(
                play(jax.tree.map(lambda x, i=i: x[i], training.agents), keys[i], episodes, not sample)
            )
            for i in progress.track(range(run.num_seeds), description="agents")
        ]
    table = Table("seed", "return", "std", box=None, pad_edge=False)
    means = []
    for number, (returns, ended) in enumerate(played):
        returns = np.asarray(returns, np.float64)
        means.append(returns.mean())
        table.add_row(str(run.seed + number), f"{returns.mean():.4g}", f"{returns.std():.4g}")
        if not ended.all():
            cut = int((~ended).sum())
            output.say(f"{cut} episode{'s' * (cut != 1)} of seed {run.seed + number} cut after {MAX_STEPS:,} steps.")
    if run.num_seeds > 1:
        table.add_row("all", f"{np.mean(means):.4g}", f"{np.std(means):.4g}")
    output.show(table)


def training_bytes(learner: Any) -> int:
    """About how many bytes the training of one agent takes: its state and what an update stores, each twice."""
    import jax
    from envcore_runs.memory import tree_bytes

    state = jax.eval_shape(learner.init, jax.eval_shape(lambda: jax.random.key(0)))
    return 2 * (tree_bytes(state) + _largest_bytes(learner.update, state))


def episode_bytes(learner: Any, params: Any, agents: Any) -> int:
    """About how many bytes one episode of an evaluation takes: its state, and what acting stores, each twice."""
    import jax
    from envcore_runs.memory import tree_bytes

    agent = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), agents)
    key = jax.eval_shape(lambda: jax.random.key(0))
    started = jax.eval_shape(learner.env.reset, key, params), jax.eval_shape(learner.start_memory)
    (obs, _), memory = started
    return 2 * (tree_bytes(started) + _largest_bytes(learner.act, agent, memory, obs, key))


def _largest_bytes(fun: Any, *args: Any) -> int:
    """The bytes of the largest result of an operation of a function."""
    import jax
    from envcore_runs.memory import tree_bytes

    operations = jax.make_jaxpr(fun)(*args).eqns
    return max(tree_bytes([each.aval for each in operation.outvars]) for operation in operations)
