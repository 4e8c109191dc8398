"""The arguments of a command, so that distributed processes can check that they run the same command."""

from __future__ import annotations

from typing import Any

import typer

_OF_ONE = {"coordinator", "process_id"}
"""Parameters that may differ between processes."""


def given_to(context: typer.Context) -> tuple[Any, ...]:
    """Returns the name of a command and the values of its parameters, by name."""
    values = {name: value for name, value in context.params.items() if name not in _OF_ONE}
    return str(context.info_name), sorted(values.items())
