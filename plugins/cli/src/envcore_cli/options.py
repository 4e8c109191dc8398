"""Arguments and options that several commands take, for typer. Imports no JAX."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def path(text: str) -> Path:
    """Parses the path of an option; refuses an empty one, which would mean the current folder."""
    if not text:
        raise typer.BadParameter("the path is empty.")
    return Path(text)


EnvId = Annotated[
    str, typer.Argument(metavar="ID", help="An environment's id, for example CartPole-v1, or your MODULE:CLASS.")
]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="An option of its constructor; may be given several times."),
]
Params = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PARAM=VALUE", help="A value for one of its params; may be given several times."),
]
Policy = Annotated[
    str,
    typer.Option(
        help="The policy: random, legal, your MODULE:FUNCTION, or one that a plugin announces, such as trained."
    ),
]
Devices = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Devices of this process; by default all, and of a CPU every core as a device.",
    ),
]
Coordinator = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="Run the same command in several processes, of which process 0 listens here: at an IP address of its "
        "machine on that address alone, at a name on all interfaces. On CPUs every process also listens at the address "
        "of its machine's name. Nothing asks for a password. "
        "SLURM, Open MPI, Kubernetes and Cloud TPU need none of these options.",
    ),
]
NumProcesses = Annotated[int | None, typer.Option(metavar="N", help="How many processes; 1 ignores the cluster.")]
ProcessId = Annotated[int | None, typer.Option(metavar="I", help="The number of this process, from 0.")]
Seed = Annotated[int, typer.Option(help="Seed of the random key.")]
