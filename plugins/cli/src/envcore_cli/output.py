"""Printing messages. Imports no JAX."""

from __future__ import annotations

from envcore.text import printable
from rich.console import Console


def say(text: str, style: str = "") -> None:
    """Prints a message on one line, without interpreting markup or escape sequences in it."""
    Console().print(printable(text), style=style, markup=False, highlight=False, soft_wrap=True)
