"""Announces the suite's environments and its policy to envcore. Imports no JAX."""

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec, PolicySpec


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    """Returns the suite's environments, one spec each."""
    return [
        EnvSpec(
            id="WindyGridworld-v0",
            entry_point="envcore_example.windy_gridworld:WindyGridworld",
            summary="Cross a grid whose wind blows upwards.",
            source="Sutton & Barto (2018), example 6.5",
        ),
    ]


@hookimpl
def envcore_policies() -> list[PolicySpec]:
    """Returns the suite's policies, one spec each."""
    return [PolicySpec("windy", "Takes the shortest path of WindyGridworld-v0.", "envcore_example.policies:windy")]
