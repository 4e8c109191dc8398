"""Announces the suite's environments to envcore. Imports no JAX."""

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    """The suite's environments."""
    return [
        EnvSpec(
            id="Catch-bsuite",
            entry_point="envcore_bsuite.catch:Catch",
            summary="Catch a falling ball with a paddle.",
            source="bsuite 0.3.6, Osband et al. (2020)",
        ),
    ]
