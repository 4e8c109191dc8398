"""`envcore train` and `envcore evaluate`. Their arguments are checked before a command imports JAX."""

from __future__ import annotations

import contextlib
import importlib.util
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from envcore import suggestions
from envcore.errors import InvalidArgumentError
from envcore.suggestions import how_to_install
from envcore_cli import output
from envcore_cli.assignments import assignments, choose
from envcore_cli.errors import CommandError
from envcore_cli.given import given_to
from envcore_cli.options import (
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

from envcore_baselines import algorithms, settings
from envcore_baselines.errors import ConfigError

_LOGS = ("jsonl", "tensorboard", "wandb")


def train(
    context: typer.Context,
    algorithm: Annotated[
        str, typer.Argument(metavar="ALGO", help=f"The algorithm: {algorithms.OURS}, a plugin's, or your MODULE:CLASS.")
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
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE,VALUE",
            help="Values of a setting, of which each is trained with --seeds agents, all in one program; may be given "
            "several times, for every combination.",
        ),
    ] = None,
    option: Options = None,
    set_: Params = None,
    evaluate: Annotated[
        int,
        typer.Option(
            "--evaluate", parser=integer, metavar="N", help="Greedy episodes of each agent at each point of the curve."
        ),
    ] = 0,
    log: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Also write the points of the curve as jsonl, tensorboard or wandb."),
    ] = None,
    video: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="FILE", help="Record the first agent at the end, as `envcore render` does."),
    ] = None,
    randomize: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PARAM=LOW,HIGH", help="Draw one of its params anew for each episode; may be given several times."
        ),
    ] = None,
    network: Annotated[
        str | None,
        typer.Option(metavar="MODULE:NAME", help="Your network, for an algorithm that takes one, as ppo does."),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Print the settings, and do not train.")] = False,
    devices: Devices = None,
    coordinator: Coordinator = None,
    num_processes: NumProcesses = None,
    process_id: ProcessId = None,
    connect_timeout: ConnectTimeout = 300,
) -> None:
    """Train agents, each on one device.

    DIR gets run.json, checkpoint.safetensors, curve.csv, curve.png and metrics.csv. To continue an interrupted run,
    give the same command again: the results are those of a run without an interruption, bit for bit, if each device has
    as many agents as before. A seed alone learns otherwise than the same seed in a group, as rounding differs.
    """
    choice = choose(env_id, option or (), set_ or (), randomize or ())
    # Before evosax, and perhaps a module of the user's, is imported, which computes with JAX.
    if not show:
        from envcore_runs import distributed

        distributed.start(given_to(context), devices, coordinator, num_processes, process_id, connect_timeout)
    name = algorithms.checked(algorithm)
    given = assignments("--setting", setting or (), ConfigError)
    if not 1 <= seeds <= algorithms.MAX_AGENTS:
        raise InvalidArgumentError(f"--seeds must be from 1 to {algorithms.MAX_AGENTS:,}, got {seeds}.")
    if out is None and not show:
        raise InvalidArgumentError("--out DIR is needed: the folder for the results.")
    swept = _swept(sweep or ())
    algorithms.grid(name, swept, given)
    for kind in log or ():
        if kind not in _LOGS:
            raise InvalidArgumentError(f"--log must be one of {', '.join(_LOGS)}, got {kind!r}.")
    if show:
        output.write(settings.as_toml(algorithms.config(name, choice.found.spec.id, given), name))
        return
    assert out is not None
    if video and not importlib.util.find_spec("envcore_viewer"):
        raise CommandError(f"--video needs envcore-viewer, which is not installed: {how_to_install('envcore-viewer')}.")
    from envcore_runs import distributed

    from envcore_baselines.experiment import planned

    made = choice.make()
    run = planned(choice, name, given, seed, seeds, swept, network, evaluate)
    if video:
        from envcore_viewer.animation import files

        video = files.checked_path(video)
    _train(run, made, out, devices, _loggers(log or (), run, out) if distributed.is_first() else [])
    if video and distributed.is_first():
        from envcore_viewer.render import render

        render([choice], video, f"trained:{out}", None, 1, None, None, seed, 480, overlay=False, names=False)


def evaluate(
    agents: Annotated[
        str,
        typer.Argument(
            metavar="DIR|ID", help="The folder of a run, or an environment whose trained agent comes with this package."
        ),
    ],
    episodes: Annotated[int, typer.Option(parser=integer, metavar="<int>", help="Episodes of each agent.")] = 100,
    sample: Annotated[
        bool, typer.Option("--sample", help="Sample actions, instead of the most probable ones.")
    ] = False,
    best: Annotated[
        bool, typer.Option("--best", help="Play each agent as it was at the best point of its curve, not at the last.")
    ] = False,
    seed: Seed = 0,
) -> None:
    """Measure the mean return of trained agents over whole episodes.

    An agent never sees the random numbers of its training again, whatever --seed is.
    """
    from envcore_baselines import trained
    from envcore_baselines.training import Run

    if not 1 <= episodes <= 1_000_000:
        raise InvalidArgumentError(f"--episodes must be from 1 to 1,000,000, got {episodes}.")
    if agents in trained.names() and not Path(agents).exists():
        if best:
            raise InvalidArgumentError("--best needs the folder of a run: a shipped agent has no curve.")
        players = [trained.load(agents)]
        _evaluate(players[0].run, players, episodes, sample, seed)
        return
    folder = Path(agents)
    if not folder.is_dir():
        meant = suggestions.hint(agents, trained.names()) or f" Those are {', '.join(trained.names())}."
        raise InvalidArgumentError(
            f"{agents} is neither the folder of a run nor an environment with a trained agent.{meant}"
        )
    run = Run.load(folder)
    _evaluate(run, trained.TrainedAgent.of_run(run, *run.make(), folder, best), episodes, sample, seed)


def _train(run: Any, made: Any, out: Path, devices: int | None, loggers: Sequence[Any]) -> None:
    from envcore_runs import distributed

    from envcore_baselines.experiment import started

    is_shown = output.console().is_terminal and distributed.is_first()
    with (
        output.progress_bar(is_shown=is_shown, transient=True) as progress,
        started(run, made, run.learner(*made), out, devices, "--seeds") as session,
        contextlib.ExitStack() as stack,
    ):
        bar, training = progress.add_task("compiling", total=None), session.training
        for note in session.notes if distributed.is_first() else ():
            output.say(note)
        for logger in loggers:
            stack.enter_context(logger)
        for point in session.points():
            for logger in loggers:
                logger(point)
            speed = "" if math.isnan(point.steps_per_second) else f", {point.steps_per_second:,.0f} steps/s"
            description = f"{point.steps:,} steps, return {training.curve.last:.4g}{speed}"
            progress.update(bar, description=description, total=training.num_points, completed=len(training.curve))
    if distributed.is_first():
        _report(run, out, training.curve)


def _loggers(kinds: Sequence[str], run: Any, out: Path) -> list[Any]:
    """What writes the points of a training, of these kinds."""
    import dataclasses

    from envcore_baselines.loggers import JsonLines, TensorBoard, WeightsAndBiases

    facts, name = dataclasses.asdict(run), f"{run.algorithm} {run.env_id}"
    make: dict[str, Callable[[], Any]] = {
        "jsonl": lambda: JsonLines(out / "log.jsonl"),
        "tensorboard": lambda: TensorBoard(out / "tensorboard"),
        "wandb": lambda: WeightsAndBiases(facts, out, name=name),
    }
    loggers = [make[kind]() for kind in dict.fromkeys(kinds)]
    for logger in loggers:
        logger.check()
    return loggers


def _swept(texts: Sequence[str]) -> dict[str, Any]:
    """The values of `--sweep`; several, or one alone, by name."""
    values = assignments("--sweep", texts, ConfigError)
    return {name: value if isinstance(value, tuple | list) else [value] for name, value in values.items()}


def _report(run: Any, out: Path, curve: Any) -> None:
    """What a training came to; of a sweep, a row for each combination, the best first."""
    import numpy as np
    from rich.table import Table

    from envcore_baselines.sweep import text

    agents = f"{run.num_agents} agent{'s' * (run.num_agents != 1)}"
    output.say(f"{out}: {agents}, {curve.steps[-1]:,} steps each; last return {curve.last:.4g}.")
    if len(run.combinations) == 1:
        return
    table = Table(*run.sweep, "return", "std over agents", box=None, pad_edge=False)
    returns = np.array(curve.last_of_each).reshape(-1, run.num_seeds)
    means = np.nan_to_num(returns.mean(1), nan=-np.inf)
    for number in np.argsort(-means, kind="stable"):
        values = [text(value) for value in run.combinations[number].values()]
        table.add_row(*values, f"{returns[number].mean():.4g}", f"{returns[number].std():.4g}")
    output.show(table)


def _evaluate(run: Any, agents: Sequence[Any], episodes: int, sample: bool, seed: int) -> None:
    """Plays the agents of a run and prints a table of their returns."""
    import jax
    import numpy as np
    from envcore.random import key_of
    from envcore_runs import memory
    from rich.table import Table

    from envcore_baselines.evaluation import MAX_STEPS, episode_returns
    from envcore_baselines.footprint import episode_bytes
    from envcore_baselines.sweep import text

    first = agents[0]
    each = episode_bytes(first.learner, first.params, first.agent)
    memory.check_fits("--episodes", episodes, each, memory.device_bytes())
    learners = [first.learner] * len(run.combinations)
    if sample and run.sweep:  # swept settings may decide how actions are sampled
        learners = [agent.run.learner(*run.make()) for agent in agents[:: run.num_seeds]]
    with output.progress_bar(is_shown=output.console().is_terminal, transient=True) as progress:
        keys = jax.random.split(key_of(seed), run.num_agents)

        def play(number: int) -> Any:
            of_group, agent = learners[number // run.num_seeds], agents[number].agent
            return jax.block_until_ready(
                episode_returns(of_group, first.params, agent, keys[number], episodes, not sample)
            )

        played = [play(number) for number in progress.track(range(run.num_agents), description="agents")]
    spreads = ["std over episodes", *(["std over agents"] if run.num_seeds > 1 else [])]
    table = Table(*run.sweep, "seed", "return", *spreads, box=None, pad_edge=False)
    means = []
    for number, (returns, ended) in enumerate(played):
        returns, seed = np.asarray(returns, np.float64), run.seeds[number]
        means.append(returns.mean())
        swept = [text(value) for value in run.combinations[number // run.num_seeds].values()]
        table.add_row(*swept, str(seed), f"{returns.mean():.4g}", f"{returns.std():.4g}")
        if not ended.all():
            cut = int((~ended).sum())
            output.say(f"{cut} episode{'s' * (cut != 1)} of {run.names[number]} cut after {MAX_STEPS:,} steps.")
    for group, of_group in zip(run.combinations, np.reshape(means, (-1, run.num_seeds)), strict=True):
        if run.num_seeds > 1:
            swept = [text(value) for value in group.values()]
            table.add_row(*swept, "all", f"{of_group.mean():.4g}", "", f"{of_group.std():.4g}")
    output.show(table)
