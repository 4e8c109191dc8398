"""Writes to standard output, for the commands of all distributions. Imports no JAX.

ruff forbids `print`, `typer.echo`, `sys.stdout` and `Console` everywhere else.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress


def console() -> Console:
    """Returns a rich console for standard output that doesn't interpret markup or emoji names by default."""
    from rich.console import Console

    return Console(markup=False, emoji=False)


def write(text: str) -> None:
    """Writes text unchanged and without wrapping. Fast."""
    sys.stdout.write(f"{text}\n")


def say(text: str, style: str = "") -> None:
    """Prints a one-line message, without interpreting markup."""
    console().print(text, style=style, highlight=False, soft_wrap=True)


def show(table: RenderableType) -> None:
    """Prints a table."""
    console().print(table)


def progress_bar(*, is_shown: bool = True, transient: bool = False) -> Progress:
    """Returns a progress bar with task, bar, percentage and remaining time."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console(), transient=transient, disable=not is_shown)


@contextlib.contextmanager
def progress_of(task: str, total: float, *, is_shown: bool = True) -> Generator[Callable[[float], None]]:
    """Yields a function that updates a progress bar. The bar appears at its first call, after what can fail."""
    bar = progress_bar(is_shown=is_shown)
    shown = bar.add_task(task, total=total)

    def show(completed: float) -> None:
        bar.start()
        bar.update(shown, completed=completed)

    try:
        yield show
    finally:
        if bar.live.is_started:
            bar.stop()
