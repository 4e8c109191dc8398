"""Announces the suite's environments to envcore. Imports no JAX."""

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    """The suite's environments."""
    return [
        EnvSpec(
            id="FrozenLake-misc",
            entry_point="envcore_misc.frozen_lake:FrozenLake",
            summary="Cross a slippery frozen lake without falling into a hole.",
            source="Gymnasium 1.4",
        ),
    ]
