"""Announces the suite's environments and its policy to envcore. Imports no JAX."""

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec, PolicySpec

_SOURCE = "Sutton & Barto (2018)"


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    """One class under two ids: the example of the book, and its exercise as an option of the same class."""
    return [
        EnvSpec(
            id="WindyGridworld-v0",
            entry_point="envcore_example.windy_gridworld:WindyGridworld",
            summary="Cross a grid whose wind blows upwards.",
            source=f"{_SOURCE}, example 6.5",
        ),
        EnvSpec(
            id="WindyGridworldKing-v0",
            entry_point="envcore_example.windy_gridworld:WindyGridworld",
            kwargs={"king_moves": True},
            summary="Cross a windy grid with the moves of a chess king.",
            source=f"{_SOURCE}, exercise 6.9",
        ),
    ]


@hookimpl
def envcore_policies() -> list[PolicySpec]:
    """What `--policy windy` plays."""
    return [PolicySpec("windy", "Takes the shortest path of WindyGridworld-v0.", "envcore_example.policies:windy")]
