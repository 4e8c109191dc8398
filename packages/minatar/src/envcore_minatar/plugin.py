"""Announces the suite's environments to envcore. Imports no JAX."""

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec

_GAMES = {
    "asterix:Asterix": "Gather gold, and avoid the enemies that cross the board.",
    "breakout:Breakout": "Break bricks with a ball, and keep it from the bottom with a paddle.",
    "freeway:Freeway": "Bring a chicken across eight lanes of traffic, as often as time allows.",
    "seaquest:Seaquest": "Rescue divers with a submarine, shoot enemies, and watch the oxygen.",
    "space_invaders:SpaceInvaders": "Shoot the aliens that march down on a cannon, and dodge their bullets.",
}


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    """Returns MinAtar's games."""
    source = "MinAtar 1.0.15, Young & Tian (2019)"
    return [
        EnvSpec(f"{game.partition(':')[2]}-MinAtar", f"envcore_minatar.{game}", summary=summary, source=source)
        for game, summary in _GAMES.items()
    ]
