"""`envcore sweep`. Its arguments are checked before it imports Ray or JAX."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer
from envcore.errors import InvalidArgumentError
from envcore_baselines import algorithms
from envcore_baselines.errors import ConfigError
from envcore_cli import output
from envcore_cli.assignments import assignments
from envcore_cli.options import Seed, integer, number, path


def sweep(
    algorithm: Annotated[
        str, typer.Argument(metavar="ALGO", help=f"The algorithm: {algorithms.OURS}, a plugin's, or your MODULE:CLASS.")
    ],
    env_ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Environments, for example CartPole-v1.")],
    out: Annotated[Path, typer.Option(parser=path, metavar="DIR", help="The folder for the folders of the runs.")],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="A setting with one of its values; give each value. All combinations are run."
        ),
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A setting of all runs; may be given several times.")
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(parser=integer, metavar="<int>", help="Number of agents for each environment and combination."),
    ] = 1,
    seeds_per_run: Annotated[
        int | None,
        typer.Option(
            parser=integer,
            metavar="<int>",
            help="How many of them are trained side by side in one task; by default all.",
        ),
    ] = None,
    seed: Seed = 0,
    address: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help='The Ray cluster: HOST:PORT or "auto"; by default Ray is started here.'),
    ] = None,
    cpus: Annotated[float, typer.Option(parser=number, metavar="<float>", help="Cores of each task.")] = 1,
    gpus: Annotated[
        float, typer.Option(parser=number, metavar="<float>", help="GPUs of each task; may be a fraction.")
    ] = 0,
) -> None:
    """Train over seeds, environments and settings on a Ray cluster.

    DIR gets a folder for each run, like that of `envcore train`. To continue an interrupted sweep, give the same
    command again. Where a node is lost, its runs continue elsewhere from their last checkpoints.
    """
    varied: dict[str, list[object]] = {}
    for text in vary or ():
        for name, value in assignments("--vary", [text], ConfigError).items():
            varied.setdefault(name, []).append(value)
    given = assignments("--setting", setting or (), ConfigError)
    if both := sorted({*varied} & {*given}):
        raise InvalidArgumentError(f"--vary and --setting both give {both[0]!r}.")
    from rich.table import Table

    from envcore_ray.errors import TasksFailedError
    from envcore_ray.training import plan, train
    from envcore_ray.workers import RayWorkers

    runs = plan(
        algorithms.checked(algorithm), env_ids, varied, given, seed=seed, seeds=seeds, seeds_per_run=seeds_per_run
    )
    workers = RayWorkers(address, num_cpus=cpus, num_gpus=gpus)
    failed = None
    try:
        with output.progress_of(f"{len(runs)} runs", len(runs)) as progress:
            returns = train(runs, out, workers, progress=progress)
    except TasksFailedError as error:
        failed, returns = error, error.returns
    table = Table("run", "last return", box=None, pad_edge=False)
    for name, last in sorted(returns.items(), key=lambda each: -math.inf if math.isnan(each[1]) else each[1])[::-1]:
        table.add_row(name, f"{last:.4g}")
    output.show(table)
    if failed is not None:
        raise failed
