"""gymnax's classes of environments, by their names there, each made without arguments or with options."""

from __future__ import annotations

from typing import Any

from envcore_gymnax.environments.environment import EnvcoreEnvironment

_IDS = {
    "classic_control": {
        "Acrobot": "Acrobot-v1",
        "CartPole": "CartPole-v1",
        "ContinuousMountainCar": "MountainCarContinuous-v0",
        "MountainCar": "MountainCar-v0",
        "Pendulum": "Pendulum-v1",
    },
    "bsuite": {
        "Catch": "Catch-bsuite",
        "DeepSea": "DeepSea-bsuite",
        "DiscountingChain": "DiscountingChain-bsuite",
        "MNISTBandit": "MNISTBandit-bsuite",
        "MemoryChain": "MemoryChain-bsuite",
        "SimpleBandit": "SimpleBandit-bsuite",
        "UmbrellaChain": "UmbrellaChain-bsuite",
    },
    "minatar": {
        "MinAsterix": "Asterix-MinAtar",
        "MinBreakout": "Breakout-MinAtar",
        "MinFreeway": "Freeway-MinAtar",
        "MinSeaquest": "Seaquest-MinAtar",
        "MinSpaceInvaders": "SpaceInvaders-MinAtar",
    },
    "misc": {
        "BernoulliBandit": "BernoulliBandit-misc",
        "FourRooms": "FourRooms-misc",
        "FrozenLake": "FrozenLake-misc",
        "GaussianBandit": "GaussianBandit-misc",
        "MetaMaze": "MetaMaze-misc",
        "PointRobot": "PointRobot-misc",
        "Pong": "Pong-misc",
        "Reacher": "Reacher-misc",
        "Swimmer": "Swimmer-misc",
    },
}


def classes_of(suite: str) -> dict[str, type[EnvcoreEnvironment]]:
    """The classes of one of gymnax's suites."""
    return {name: _class(suite, name, env_id) for name, env_id in _IDS[suite].items()}


def _class(suite: str, name: str, env_id: str) -> type[EnvcoreEnvironment]:
    def __init__(self: EnvcoreEnvironment, **options: Any) -> None:  # noqa: N807
        EnvcoreEnvironment.__init__(self, env_id, **options)

    module = f"envcore_gymnax.environments.{suite}"
    doc = f"gymnax's name for {env_id}; takes the options of envcore's environment."
    return type(name, (EnvcoreEnvironment,), {"__init__": __init__, "__module__": module, "__doc__": doc})
