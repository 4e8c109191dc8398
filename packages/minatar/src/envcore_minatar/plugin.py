"""Announces the suite's environments to envcore. Imports no JAX."""

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec

_SOURCE = "MinAtar 1.0.15, Young & Tian (2019)"


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    """MinAtar's games."""
    return [
        EnvSpec(
            id="Asterix-MinAtar",
            entry_point="envcore_minatar.asterix:Asterix",
            summary="Gather gold, and avoid the enemies that cross the board.",
            source=_SOURCE,
        ),
        EnvSpec(
            id="Breakout-MinAtar",
            entry_point="envcore_minatar.breakout:Breakout",
            summary="Break bricks with a ball, and keep it from the bottom with a paddle.",
            source=_SOURCE,
        ),
        EnvSpec(
            id="Freeway-MinAtar",
            entry_point="envcore_minatar.freeway:Freeway",
            summary="Bring a chicken across eight lanes of traffic, as often as time allows.",
            source=_SOURCE,
        ),
        EnvSpec(
            id="Seaquest-MinAtar",
            entry_point="envcore_minatar.seaquest:Seaquest",
            summary="Rescue divers with a submarine, shoot enemies, and watch the oxygen.",
            source=_SOURCE,
        ),
        EnvSpec(
            id="SpaceInvaders-MinAtar",
            entry_point="envcore_minatar.space_invaders:SpaceInvaders",
            summary="Shoot the aliens that march down on a cannon, and dodge their bullets.",
            source=_SOURCE,
        ),
    ]
