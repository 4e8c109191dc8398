"""Delays Ctrl-C and SIGTERM, so that a loop can stop and save."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Generator
from typing import NoReturn

_ECHO = 0.1
"""Repeated signals within this many seconds count as one: `timeout` and terminals signal a process and its group."""


@contextlib.contextmanager
def noted(then: Callable[[], object] = lambda: None) -> Generator[Callable[[], int]]:
    """Delays Ctrl-C and SIGTERM inside the `with` block. The second signal takes effect at once, as in `stop`.

    It yields a function that returns the number of the signal, or 0 if none has arrived:

        with signals.noted() as signum:
            while work_is_left() and not signum():
                work()
            save()
        if signum():
            signals.stop(signum())

    The first signal calls `then`, which can end a loop that doesn't check for signals. Outside the main thread this is
    a no-op, because Python handles signals only there. Ignored signals stay ignored: a shell ignores Ctrl-C for its
    background jobs.
    """
    first, came = 0, 0.0

    def note(signum: int, frame: object) -> None:
        nonlocal first, came
        if not first:
            first, came = signum, time.monotonic()
            then()
        elif time.monotonic() - came > _ECHO:
            stop(signum)

    signums = (signal.SIGINT, signal.SIGTERM) if threading.current_thread() is threading.main_thread() else ()
    handled = [each for each in signums if signal.getsignal(each) is not signal.SIG_IGN]
    before = {each: signal.signal(each, note) for each in handled}
    try:
        yield lambda: first
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def stop(signum: int) -> NoReturn:
    """Stops the process as Python does after a signal.

    Raises:
      KeyboardInterrupt: the signal is Ctrl-C.
      SystemExit: for any other signal, with 128 plus its number as exit status, like in a shell.
    """
    if signum == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + signum)
