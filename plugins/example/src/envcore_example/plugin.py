"""Announces the suite's environments to envcore. Imports no JAX."""

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    """None yet."""
    return []
