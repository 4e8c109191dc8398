"""Announces the commands of the baselines to envcore. Imports no JAX."""

from envcore.plugins import hookimpl
from envcore.specs import CommandSpec


@hookimpl
def envcore_commands() -> list[CommandSpec]:
    """The commands that train and evaluate agents."""
    return [
        CommandSpec("train", "Train agents.", "envcore_baselines.commands:train"),
        CommandSpec("evaluate", "Measure the return of trained agents.", "envcore_baselines.commands:evaluate"),
    ]
