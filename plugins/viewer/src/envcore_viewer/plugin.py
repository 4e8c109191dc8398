"""Announces the viewer's commands to envcore. Imports no JAX."""

from envcore.plugins import hookimpl
from envcore.specs import CommandSpec


@hookimpl
def envcore_commands() -> list[CommandSpec]:
    """What shows environments at work."""
    return [
        CommandSpec("render", "Write a moving picture of environments at work.", "envcore_viewer.commands:render"),
        CommandSpec(
            "gallery", "Write a page that shows all installed environments at work.", "envcore_viewer.commands:gallery"
        ),
        CommandSpec("play", "Play an environment in the terminal, with the keyboard.", "envcore_viewer.commands:play"),
    ]
