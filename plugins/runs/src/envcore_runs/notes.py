"""What a process says on standard error while it waits for others, and when it has to end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NoReturn

PATIENCE = 10.0
"""Seconds after which a process says for whom it waits."""
SELDOM = 60.0
"""Seconds until it says so again."""


async def wait(
    future: asyncio.Future[Any], who_is_late: Callable[[float], Awaitable[Sequence[int]]], timeout: float | None = None
) -> bool:
    """Waits for a future, and says for whom after a while; returns whether it is done.

    Args:
      future: what is waited for.
      who_is_late: returns the numbers of the processes that have not come, given for how long this one has waited.
      timeout: seconds after which to give up; None for never.
    """
    patience, waited, began = PATIENCE, 0.0, asyncio.get_running_loop().time()
    while True:
        left = None if timeout is None else began + timeout - asyncio.get_running_loop().time()
        pause = patience if left is None else min(patience, left)
        if (await asyncio.wait([future], timeout=max(pause, 0)))[0]:
            return True
        if left is not None and left <= patience:
            return False
        waited, patience = waited + patience, SELDOM
        say_late(await who_is_late(waited), waited)


def say_late(numbers: Sequence[int], waited: float) -> None:
    """Says for which processes this one has waited for so many seconds; nothing if there are none."""
    if numbers:
        others = f"process{'es' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"
        print_line(f"note: waiting for {others}, {waited:.0f} s so far.")


def fail(message: str) -> NoReturn:
    """Ends the process with an error, from any thread."""
    print_line(f"error: {message}")
    os._exit(1)


def print_line(text: str) -> None:
    """Prints on standard error."""
    with contextlib.suppress(Exception):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
