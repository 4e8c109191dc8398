"""The command `envcore`. JAX is imported only inside the commands that need it."""

from __future__ import annotations

import os
import sys

try:
    from envcore.errors import InvalidActionError as _  # noqa: F401
except ImportError:  # the package index has a stranger's `envcore`
    import importlib.metadata

    found = [each.version for each in importlib.metadata.distributions(name="envcore")][:1]
    found += [str(getattr(sys.modules.get("envcore"), "__file__", "not importable"))]
    raise ImportError(
        f"{__name__} needs envcore>=0.2, the library of JAX environments, and the installed envcore is not that "
        f"({', '.join(found)}): run `pip install ./core` in a clone of its repository, or "
        "`pip install 'envcore>=0.2'` once it is released"
    ) from None


def main() -> None:
    """Entry point of the console script.

    An error of envcore's own or of the system becomes one line and exit status 1, Ctrl-C one line and 130, and the
    end of a pipe's reader a silent 141. Only before it is called, while Python itself starts, Ctrl-C shows Python's
    own traceback.
    """
    try:
        from envcore_cli import interrupt, streams

        streams.prepare()  # first: a descriptor that is opened must not become a standard stream
        interrupt.install()
    except KeyboardInterrupt:
        os.write(2, b"interrupted\n")
        os._exit(130)
    import warnings

    from envcore.errors import EnvcoreError, PluginWarning

    # `list` and `plugins` show broken plugins in their tables; a Python warning on top says it twice.
    warnings.simplefilter("ignore", PluginWarning)
    try:
        _run()
    except interrupt.Interrupted:
        interrupt.end()
    except EnvcoreError as error:
        _fail(str(error))
    except MemoryError:
        _fail("there is not enough memory.")
    except OSError as error:
        _fail(f"{f'{error.filename}: ' if error.filename else ''}{error.strerror or error}.")


def _run() -> None:
    from envcore_cli.app import app

    try:
        app()
    finally:
        sys.stdout.flush()  # while somebody can still say that it fails


def _fail(message: str) -> None:
    from envcore.text import printable

    print(f"error: {printable(message)}", file=sys.stderr)
    raise SystemExit(1) from None
