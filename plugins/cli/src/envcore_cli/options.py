"""Arguments and options that several commands take, for typer. Imports no JAX."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer


def path(text: str) -> Path:
    """Parses the path of an option; refuses an empty one, which would mean the current folder."""
    if not text:
        raise typer.BadParameter("the path is empty.")
    return Path(text)


def integer(value: str | int) -> int:
    """Parses an integer of an option; refuses those that float64 could not hold, times anything that is counted."""
    try:
        number = int(value)
    except ValueError:
        raise typer.BadParameter(f"{_shown(value)} is not an integer.") from None
    if abs(number) >= 10**30:
        raise typer.BadParameter(f"{_shown(value)} has too many digits.")
    return number


def number(value: str | float) -> float:
    """Parses a number of an option; refuses those that are not finite."""
    try:
        found = float(value)
    except ValueError:
        raise typer.BadParameter(f"{_shown(value)} is not a number.") from None
    if not math.isfinite(found):
        raise typer.BadParameter(f"{_shown(value)} is not a finite number.")
    return found


def _shown(value: object) -> str:
    text = str(value)
    return repr(text if len(text) <= 40 else f"{text[:20]}...{text[-10:]}")


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
        parser=integer,
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
NumProcesses = Annotated[
    int | None, typer.Option(parser=integer, metavar="N", help="How many processes; 1 ignores the cluster.")
]
ProcessId = Annotated[int | None, typer.Option(parser=integer, metavar="I", help="The number of this process, from 0.")]
ConnectTimeout = Annotated[
    int, typer.Option(parser=integer, metavar="SECONDS", help="How long to wait for the other processes.")
]
Seed = Annotated[int, typer.Option(parser=integer, metavar="<int>", help="Seed of the random key.")]
