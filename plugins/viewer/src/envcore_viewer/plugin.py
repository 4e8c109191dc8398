"""Adds the viewer's commands to `envcore`. Does not import JAX."""

from envcore.plugins import hookimpl
from envcore.specs import CommandSpec


@hookimpl
def envcore_commands() -> list[CommandSpec]:
    """Returns the specs of `envcore render` and `envcore play`."""
    return [
        CommandSpec("render", "Render environments to a GIF, WebP, PNG or MP4 file.", "envcore_viewer.commands:render"),
        CommandSpec("play", "Play an environment in the terminal with your keyboard.", "envcore_viewer.commands:play"),
    ]
