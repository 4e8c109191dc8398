"""Arguments and options that several commands take, for typer. Imports no JAX."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EnvId = Annotated[str, typer.Argument(metavar="ID", help="An environment's id, for example CartPole-v1.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="An option of its constructor; may be given several times."),
]
Params = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PARAM=VALUE", help="A value for one of its params; may be given several times."),
]
Policy = Annotated[
    str, typer.Option(help="The policy: random, your MODULE:FUNCTION, or one that a plugin announces, such as trained.")
]
Seed = Annotated[int, typer.Option(help="Seed of the random key.")]


def path(text: str) -> Path:
    """Parses the path of an option; refuses an empty one, which would mean the current folder."""
    if not text:
        raise typer.BadParameter("the path is empty.")
    return Path(text)
