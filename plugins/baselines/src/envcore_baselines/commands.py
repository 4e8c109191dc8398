"""The commands `envcore train` and `envcore evaluate`. Arguments are checked before JAX is imported."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from envcore.errors import InvalidArgumentError
from envcore_cli import output
from envcore_cli.assignments import assignments, choose
from envcore_cli.given import given_to
from envcore_cli.options import Coordinator, Devices, EnvId, NumProcesses, Options, Params, ProcessId, Seed, path

from envcore_baselines import algorithms, settings
from envcore_baselines.errors import ConfigError

if TYPE_CHECKING:
    from envcore_baselines.training import TrainingResult


def _repeatable(metavar: str, text: str) -> Any:
    """A repeatable option."""
    return typer.Option(metavar=metavar, help=f"{text} (repeatable).")


def train(
    context: typer.Context,
    algorithm: Annotated[
        str, typer.Argument(metavar="ALGO", help=f"Algorithm: {algorithms.OURS}, a plugin's, or your MODULE:CLASS.")
    ],
    env_id: EnvId,
    out: Annotated[Path | None, typer.Option(parser=path, metavar="DIR", help="Folder for the results.")] = None,
    seeds: Annotated[int, typer.Option(help="Number of agents to train, each with the next seed.")] = 1,
    seed: Seed = 0,
    setting: Annotated[list[str] | None, _repeatable("NAME=VALUE", "Algorithm setting")] = None,
    sweep: Annotated[list[str] | None, _repeatable("NAME=VALUE,VALUE", "Train --seeds agents per value")] = None,
    option: Options = None,
    set_: Params = None,
    evaluate: Annotated[int, typer.Option(metavar="N", min=0, max=10**6, help="Greedy episodes per point.")] = 0,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Also log to TensorBoard.")] = False,
    randomize: Annotated[list[str] | None, _repeatable("PARAM=LOW,HIGH", "Draw a param per episode")] = None,
    network: Annotated[str | None, typer.Option(metavar="MODULE:NAME", help="Network for ppo, pqn or dqn.")] = None,
    show: Annotated[bool, typer.Option("--show", help="Print the settings without training.")] = False,
    devices: Devices = None,
    coordinator: Coordinator = None,
    num_processes: NumProcesses = None,
    process_id: ProcessId = None,
) -> None:
    """Train agents and save them with their learning curve.

    DIR will contain run.json, checkpoint.safetensors, curve.csv and curve.png. Each agent trains on one device. To
    continue an interrupted run, repeat the command. The results match an uninterrupted run bit for bit if each device
    trains as many agents as before. A seed trained alone gives different results than the same seed in a group, because
    of rounding.
    """
    name, given = algorithms.checked(algorithm), assignments("--setting", setting or (), ConfigError)
    values = assignments("--sweep", sweep or (), ConfigError)
    swept = {each: value if isinstance(value, tuple | list) else [value] for each, value in values.items()}
    choice = choose(env_id, option or (), set_ or (), randomize or ())
    if show:
        output.write(settings.as_toml(algorithms.config(name, choice.found.spec.id, given), name))
        return
    if out is None:
        raise InvalidArgumentError("--out is missing: pass the folder for the results.")
    from envcore_runs import distributed

    # First, because evosax, and perhaps a user's module, computes with JAX at import.
    distributed.start(given_to(context), devices, coordinator, num_processes, process_id)
    import numpy as np

    from envcore_baselines import training
    from envcore_baselines.loggers import TensorBoard

    is_shown = output.console().is_terminal and distributed.is_first()
    is_logged = tensorboard and distributed.is_first()
    logger = TensorBoard(out / "tensorboard") if is_logged else contextlib.nullcontext(lambda point: None)
    with output.progress_bar(is_shown=is_shown, transient=True) as progress, logger as log:
        bar = progress.add_task("compiling", total=1.0)

        def write(point: Any) -> None:
            log(point)
            returns = point.returns[~np.isnan(point.returns)]
            description = f"{point.steps:,} steps, return {returns.mean() if returns.size else np.nan:.4g}"
            progress.update(bar, description=description, completed=point.share)

        trained = training.train(
            name,
            env_id,
            seeds=seeds,
            seed=seed,
            options=choice.options,
            params=choice.params,
            sweep=swept,
            randomize=choice.randomize,
            network=network,
            evaluation_episodes=evaluate,
            out=out,
            callback=write,
            devices=devices,
            **given,
        )
    if distributed.is_first():
        _report(trained, out)


def evaluate(
    agents: Annotated[str, typer.Argument(metavar="DIR|ID", help="Folder of a run, or id of an environment.")],
    episodes: Annotated[int, typer.Option(min=1, max=1_000_000, help="Episodes per agent.")] = 100,
    sample: Annotated[bool, typer.Option("--sample", help="Sample actions instead of the most probable ones.")] = False,
    best: Annotated[bool, typer.Option("--best", help="Evaluate each agent at the best point of its curve.")] = False,
    seed: Seed = 0,
) -> None:
    """Measure the mean return of trained agents over whole episodes.

    With an id, you evaluate the trained agent that comes with envcore. Episodes never repeat the random numbers of
    training, whichever --seed you pass.
    """
    from envcore_baselines.trained import MAX_STEPS, agents_of

    players = agents_of(agents, best)
    import jax
    import numpy as np
    from envcore.random import key_of
    from envcore_runs import memory
    from rich.table import Table

    keys = jax.random.split(key_of(seed), len(players))
    with memory.explained(f"--episodes {episodes:,}"):
        played = [agent.play(episodes, key, greedy=not sample) for agent, key in zip(players, keys, strict=True)]
    table = Table("agent", "return", "std over episodes", box=None, pad_edge=False)
    for agent, (returns, ended) in zip(players, played, strict=True):
        table.add_row(agent.name, f"{returns.mean():.4g}", f"{returns.std():.4g}")
        if not ended.all():
            output.say(f"{(~ended).sum()} episodes of {agent.name} cut after {MAX_STEPS:,} steps.")
    if len(players) > 1:
        means = [returns.mean() for returns, _ in played]
        output.say(f"{len(players)} agents: return {np.mean(means):.4g}, std over agents {np.std(means):.4g}.")
    output.show(table)


def _report(trained: TrainingResult, out: Path) -> None:
    """Prints the mean return of a training, and for a sweep a row per combination, the best first."""
    import numpy as np
    from rich.table import Table

    run, returns = trained.run, trained.last_returns
    agents = f"{len(returns)} agent{'s' * (len(returns) != 1)}"
    output.say(f"{out}: {agents}, {trained.steps[-1]:,} steps each; last return {returns.mean():.4g}.")
    if not run.sweep:
        return
    table = Table("settings", "return", "std over agents", box=None, pad_edge=False)
    rows = returns.reshape(-1, run.num_seeds)
    for number in np.argsort(-rows.mean(1), kind="stable"):
        table.add_row(run.groups[number], f"{rows[number].mean():.4g}", f"{rows[number].std():.4g}")
    output.show(table)
