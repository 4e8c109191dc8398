"""Announces the suite's environments to envcore. Imports no JAX."""

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    """MinAtar's games."""
    return [
        EnvSpec(
            id="Breakout-MinAtar",
            entry_point="envcore_minatar.breakout:Breakout",
            summary="Break bricks with a ball, and keep it from the bottom with a paddle.",
            source="MinAtar 1.0.15, Young & Tian (2019)",
        ),
    ]
