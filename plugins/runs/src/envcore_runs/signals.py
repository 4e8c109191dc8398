"""Ctrl-C and SIGTERM in loops that save: the first one is noted, so that the loop stops where it can."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Generator
from typing import NoReturn

_ECHO = 0.1
"""Seconds in which a signal comes twice: `timeout` and terminals send it to a process and once more to its group."""


@contextlib.contextmanager
def noted(then: Callable[[], object] = lambda: None) -> Generator[Callable[[], int]]:
    """A context in which Ctrl-C and SIGTERM are only noted; a second one acts at once, by `stop`.

    It yields a function that returns the number of the signal, or 0 if none has come:

        with signals.noted() as signum:
            while work_is_left() and not signum():
                work()
            save()
        if signum():
            signals.stop(signum())

    The first one calls `then`, which can end a loop that does not ask. In a thread other than the main one, where
    Python handles no signals, nothing is noted. A signal that is ignored stays so: Ctrl-C is not meant for a background
    job of a shell.
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
    """Stops as Python does after a signal.

    Raises:
      KeyboardInterrupt: it is Ctrl-C.
      SystemExit: it is another one; the status is that which shells show, 128 plus its number.
    """
    if signum == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + signum)
