"""Adds the command `check` to `envcore`. Does not import JAX."""

from envcore.plugins import hookimpl
from envcore.specs import CommandSpec


@hookimpl
def envcore_commands() -> list[CommandSpec]:
    """Returns the spec of `envcore check`."""
    return [
        CommandSpec(
            "check", "Check an environment against every rule of the contract.", "envcore_testing.commands:check"
        )
    ]
