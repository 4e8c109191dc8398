"""How the commands speak. Imports no JAX."""

from __future__ import annotations

from rich.console import Console


def say(text: str, style: str = "") -> None:
    """Prints a sentence as it is: no markup, no colours of rich's own, and no line breaks inside paths."""
    Console().print(text, style=style, markup=False, highlight=False, soft_wrap=True)
