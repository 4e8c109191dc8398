"""Arguments and options that several commands share, for typer. Imports no JAX."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def path(text: str) -> Path:
    """Parses a path. Rejects an empty one, which would mean the current folder."""
    if not text:
        raise typer.BadParameter("the path is empty.")
    return Path(text)


EnvId = Annotated[
    str, typer.Argument(metavar="ID", help="Environment id, such as CartPole-v1, or MODULE:CLASS for your own.")
]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="Environment option (repeatable)."),
]
Params = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PARAM=VALUE", help="Environment param (repeatable)."),
]
Policy = Annotated[
    str,
    typer.Option(
        help="Policy: random, legal, MODULE:FUNCTION for your own, or the name of a plugin's policy, such as trained."
    ),
]
Devices = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Number of devices in this process. By default all. On CPUs, every core is a device.",
    ),
]
Coordinator = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="Address of process 0, to run the same command in several processes. With an IP address, process 0 "
        "listens on that address only, with a host name on all interfaces. On CPUs, every process also listens on the "
        "address of its machine's host name. Connections are not authenticated. "
        "Not needed with SLURM, Open MPI, Kubernetes and Cloud TPU.",
    ),
]
NumProcesses = Annotated[int | None, typer.Option(metavar="N", min=1, help="Number of processes. 1 ignores a cluster.")]
ProcessId = Annotated[int | None, typer.Option(metavar="I", help="Number of this process, starting at 0.")]
Seed = Annotated[int, typer.Option(help="Random seed.")]
