"""Announces the viewer's commands to envcore. Imports no JAX."""

from envcore.plugins import hookimpl
from envcore.specs import CommandSpec


@hookimpl
def envcore_commands() -> list[CommandSpec]:
    """The commands that show environments."""
    return [
        CommandSpec("render", "Write an animation of environments.", "envcore_viewer.commands:render"),
        CommandSpec("play", "Play an environment in the terminal, with the keyboard.", "envcore_viewer.commands:play"),
    ]
