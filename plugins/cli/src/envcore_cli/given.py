"""What a command was given, so that its processes can see whether they do the same."""

from __future__ import annotations

from typing import Any

import typer

_OF_ONE = {"coordinator", "process_id"}
"""Parameters that each process may have of its own."""


def given_to(context: typer.Context) -> tuple[Any, ...]:
    """The name of a command, and the values of its parameters by name."""
    values = {name: value for name, value in context.params.items() if name not in _OF_ONE}
    return str(context.info_name), sorted(values.items())
