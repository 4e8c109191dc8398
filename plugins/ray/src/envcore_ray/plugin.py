"""Adds the command `sweep` to `envcore`. Imports neither Ray nor JAX."""

from envcore.plugins import hookimpl
from envcore.specs import CommandSpec


@hookimpl
def envcore_commands() -> list[CommandSpec]:
    """Returns the spec of `envcore sweep`."""
    return [CommandSpec("sweep", "Train over environments and settings with Ray Tune.", "envcore_ray.commands:sweep")]
