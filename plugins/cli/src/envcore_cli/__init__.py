"""The command `envcore`. JAX is imported only inside the commands that need it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType

_PATIENCE = 5.0
"""Seconds that a signal may wait for imports."""

_noticed: dict[int, float] = {}
"""When each signal came first."""


def main() -> None:
    """Entry point of the console script.

    Errors of envcore or of the operating system are printed in one line, with exit status 1. Ctrl-C prints one line and
    exits with 130. SIGTERM exits with 143.
    """
    _noticed.clear()
    for signum in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(signum) is not signal.SIG_IGN:  # as a shell sets SIGINT for its background jobs
            signal.signal(signum, _stop)
    import warnings

    from envcore.errors import EnvcoreError, PluginWarning

    from envcore_cli.errors import Interrupted

    # `list` and `plugins` show broken plugins in their tables, so a warning would repeat that.
    warnings.simplefilter("ignore", PluginWarning)
    try:
        _run()
    except (Interrupted, KeyboardInterrupt):
        if signal.SIGTERM in _noticed:
            raise SystemExit(128 + signal.SIGTERM) from None
        sys.stderr.write("interrupted\n")
        raise SystemExit(130) from None
    except EnvcoreError as error:
        _fail(str(error))
    except MemoryError:
        _fail("there is not enough memory.")
    except OSError as error:
        _discard_output()
        if isinstance(error, BrokenPipeError):
            raise SystemExit(1) from None
        file = f"{error.filename}: " if error.filename else ""
        _fail(f"{file}{error.strerror or error}.")
    except Exception:
        import traceback

        traceback.print_exc()
        _fail("")


def _stop(signum: int, frame: FrameType | None) -> None:
    """Ends the command with an exception, so that unfinished files are removed and the terminal is restored.

    In an import, an exception may crash the process, and in JAX's callback of the garbage collector it is lost. So the
    signal comes again until they have ended, but no longer than a few seconds: a user's module may import for hours.
    """
    first = _noticed.setdefault(signum, time.monotonic())
    places = {"<frozen importlib._bootstrap>", "_xla_gc_callback"}
    while frame and places.isdisjoint((frame.f_code.co_filename, frame.f_code.co_name)):
        frame = frame.f_back
    if frame and time.monotonic() - first < _PATIENCE:
        threading.Timer(0.02, signal.raise_signal, (signum,)).start()
    else:
        raise KeyboardInterrupt  # for SIGTERM too, because plugins that end with SystemExit count as broken


def _run() -> None:
    from envcore_cli.app import app

    try:
        app()
    finally:
        sys.stdout.flush()


def _fail(message: str) -> None:
    if message:
        sys.stderr.write(f"error: {message}\n")
    if "jax" in sys.modules:
        from envcore_runs import distributed

        distributed.leave(1)
    raise SystemExit(1) from None


def _discard_output() -> None:
    """Stops Python from failing at exit when it flushes text that cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
