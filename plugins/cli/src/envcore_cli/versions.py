"""`envcore --version`. Imports no JAX."""

from __future__ import annotations

import importlib.metadata
import platform

from envcore import registry
from envcore.version import __version__


def versions() -> str:
    """Returns the versions of envcore, JAX and Python in one line, then a line for each plugin."""
    jax = importlib.metadata.version("jax")
    plugins = [f"{plugin.distribution} {plugin.version}" for plugin in registry.plugins]
    return "\n".join([f"envcore {__version__}, jax {jax}, Python {platform.python_version()}", *plugins])
