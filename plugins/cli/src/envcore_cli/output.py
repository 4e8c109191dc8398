"""How the commands speak. Imports no JAX."""

from __future__ import annotations

from envcore.text import printable
from rich.console import Console


def say(text: str, style: str = "") -> None:
    """Prints a sentence in one line, whatever it holds: without markup, escape codes and colors of rich's own."""
    Console().print(printable(text), style=style, markup=False, highlight=False, soft_wrap=True)
