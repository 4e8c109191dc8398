"""The command `envcore`. JAX is imported only inside the commands that need it."""

from __future__ import annotations

import sys
import warnings

from envcore.errors import EnvcoreError, PluginWarning


def main() -> None:
    """Entry point of the console script: an error of envcore's own becomes one line and exit status 1."""
    from envcore.cli.app import app

    # `list` and `plugins` show broken plugins in their tables; a Python warning on top says it twice.
    warnings.simplefilter("ignore", PluginWarning)
    try:
        app()
    except EnvcoreError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(1) from None
