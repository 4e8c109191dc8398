"""Announces the suite's environments to envcore. Imports no JAX."""

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    """Returns the suite's environments."""
    return [
        EnvSpec(
            id="BernoulliBandit-misc",
            entry_point="envcore_misc.bernoulli_bandit:BernoulliBandit",
            summary="Find out which arm pays more often, in each episode from scratch.",
            source="minimal-meta-rl, after Wang et al. (2017)",
        ),
        EnvSpec(
            id="FourRooms-misc",
            entry_point="envcore_misc.four_rooms:FourRooms",
            summary="Walk to a goal in a house of four rooms where moves can fail.",
            source="gym-fourrooms, after Sutton et al. (1999)",
        ),
        EnvSpec(
            id="FrozenLake-misc",
            entry_point="envcore_misc.frozen_lake:FrozenLake",
            summary="Cross a slippery frozen lake without falling into a hole.",
            source="Gymnasium 1.4",
        ),
        EnvSpec(
            id="GaussianBandit-misc",
            entry_point="envcore_misc.gaussian_bandit:GaussianBandit",
            summary="Find out whether a risky arm is better than a safe one.",
            source="Lange & Sprekeler (2022)",
        ),
        EnvSpec(
            id="MetaMaze-misc",
            entry_point="envcore_misc.meta_maze:MetaMaze",
            summary="Find the hidden goal of a maze, and return to it as often as possible.",
            source="backpropamine simplemaze, Miconi et al. (2020)",
        ),
        EnvSpec(
            id="PointRobot-misc",
            entry_point="envcore_misc.point_robot:PointRobot",
            summary="Find the hidden goal on a half circle, and return to it as often as possible.",
            source="BOReL, Dorfman et al. (2021)",
        ),
        EnvSpec(
            id="Pong-misc",
            entry_point="envcore_misc.pong:Pong",
            summary="Keep the ball from your side of the board and get it past the other player.",
            source="batch_pong_poc, Kirsch (2018)",
        ),
        EnvSpec(
            id="Reacher-misc",
            entry_point="envcore_misc.reacher:Reacher",
            summary="Bring the end of an arm of several links to a goal, and keep it there.",
            source="Ivy gym, Lenton et al. (2021)",
        ),
        EnvSpec(
            id="Swimmer-misc",
            entry_point="envcore_misc.swimmer:Swimmer",
            summary="Swim to a goal, and keep away from the urchins.",
            source="Ivy gym, Lenton et al. (2021)",
        ),
    ]
