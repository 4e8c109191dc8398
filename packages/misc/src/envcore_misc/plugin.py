"""Announces the suite's environments to envcore. Imports no JAX."""

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec

_SUMMARIES = {
    "bernoulli_bandit:BernoulliBandit": "Find out which arm pays more often, in each episode from scratch.",
    "four_rooms:FourRooms": "Walk to a goal in a house of four rooms where moves can fail.",
    "frozen_lake:FrozenLake": "Cross a slippery frozen lake without falling into a hole.",
    "gaussian_bandit:GaussianBandit": "Find out whether a risky arm is better than a safe one.",
    "meta_maze:MetaMaze": "Find the hidden goal of a maze, and return to it as often as possible.",
    "point_robot:PointRobot": "Find the hidden goal on a half circle, and return to it as often as possible.",
    "pong:Pong": "Keep the ball from your side of the board and get it past the other player.",
    "reacher:Reacher": "Bring the end of an arm of several links to a goal, and keep it there.",
    "swimmer:Swimmer": "Swim to a goal, and keep away from the urchins.",
}
_SOURCES = {
    "bernoulli_bandit:BernoulliBandit": "minimal-meta-rl, after Wang et al. (2017)",
    "four_rooms:FourRooms": "gym-fourrooms, after Sutton et al. (1999)",
    "frozen_lake:FrozenLake": "Gymnasium 1.4",
    "gaussian_bandit:GaussianBandit": "Lange & Sprekeler (2022)",
    "meta_maze:MetaMaze": "backpropamine simplemaze, Miconi et al. (2020)",
    "point_robot:PointRobot": "BOReL, Dorfman et al. (2021)",
    "pong:Pong": "batch_pong_poc, Kirsch (2018)",
    "reacher:Reacher": "Ivy gym, Lenton et al. (2021)",
    "swimmer:Swimmer": "Ivy gym, Lenton et al. (2021)",
}


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    """The suite's environments."""
    return [
        EnvSpec(f"{place.partition(':')[2]}-misc", f"envcore_misc.{place}", summary=summary, source=_SOURCES[place])
        for place, summary in _SUMMARIES.items()
    ]
