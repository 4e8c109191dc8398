"""The command `envcore`. JAX is imported only inside the commands that need it."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Entry point of the console script.

    An error of envcore or of the system is printed as one line, with exit status 1. Ctrl-C prints one line and exits
    with 130, SIGTERM with 143 and SIGHUP with 129; when the reader of a pipe is gone, the command exits silently with
    141. Only while Python itself starts, before this is called, does Ctrl-C show Python's own traceback.
    """
    try:
        from envcore_runs import interrupt

        from envcore_cli import streams

        streams.prepare()  # first: no file that is opened later may become a standard stream
        interrupt.install()
    except KeyboardInterrupt:
        os.write(2, b"interrupted\n")
        os._exit(130)
    import warnings

    from envcore.errors import EnvcoreError, PluginWarning

    from envcore_cli.errors import Interrupted

    # `list` and `plugins` show broken plugins in their tables; a warning would repeat that.
    warnings.simplefilter("ignore", PluginWarning)
    try:
        _run()
    except Interrupted:
        _part()
        interrupt.end()
    except EnvcoreError as error:
        _fail(str(error))
    except MemoryError:
        _fail("there is not enough memory.")
    except OSError as error:
        _fail(f"{f'{error.filename}: ' if error.filename else ''}{error.strerror or error}.")
    except Exception:
        import traceback

        traceback.print_exc()
        _leave(1)
        raise SystemExit(1) from None


def _run() -> None:
    from envcore_runs.naming import as_options

    from envcore_cli import streams
    from envcore_cli.app import app

    try:
        with as_options():
            app()
    finally:
        streams.finish()


def _fail(message: str) -> None:

    sys.stderr.write(f"error: {message}\n")
    _leave(1)
    raise SystemExit(1) from None


def _part() -> None:
    if "envcore_runs.processes" in sys.modules:
        from envcore_runs import processes

        processes.part()


def _leave(status: int) -> None:
    """Ends the process, if it is connected with others."""
    if "envcore_runs.processes" in sys.modules:
        from envcore_runs import processes

        processes.leave(status)
