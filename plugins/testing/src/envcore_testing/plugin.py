"""Announces the command of the conformance kit to envcore. Imports no JAX."""

from envcore.plugins import hookimpl
from envcore.specs import CommandSpec


@hookimpl
def envcore_commands() -> list[CommandSpec]:
    """The command that checks an environment."""
    return [
        CommandSpec(
            "check", "Check an environment against every rule of the contract.", "envcore_testing.commands:check"
        )
    ]
