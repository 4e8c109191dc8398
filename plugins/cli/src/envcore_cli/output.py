"""Standard output: the one place that writes to it, for the commands of all distributions. Imports no JAX.

Elsewhere, ruff refuses `print`, `typer.echo`, `sys.stdout` and `Console`.
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
    """Standard output for rich, which interprets no markup and no names of emojis unless it is told to."""
    from rich.console import Console

    return Console(markup=False, emoji=False)


def write(text: str) -> None:
    """Writes lines as they are, fast: without wrapping."""
    sys.stdout.write(f"{text}\n")


def say(text: str, style: str = "") -> None:
    """Prints a message on one line, without interpreting markup in it."""
    console().print(text, style=style, highlight=False, soft_wrap=True)


def show(table: RenderableType) -> None:
    """Prints a table."""
    console().print(table)


def progress_bar(*, is_shown: bool = True, transient: bool = False) -> Progress:
    """A progress bar with the task, the bar, the percentage and the time that is left."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console(), transient=transient, disable=not is_shown)


@contextlib.contextmanager
def progress_of(task: str, total: float, *, is_shown: bool = True) -> Generator[Callable[[float], None]]:
    """A function that shows how much of a task is done. The bar appears at its first call, after all that may fail."""
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
