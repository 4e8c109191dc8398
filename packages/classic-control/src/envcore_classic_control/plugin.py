"""Announces the suite's environments to envcore. Imports no JAX."""

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec

_SOURCE = "Gymnasium 1.4"


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    """Returns the five classic control environments."""
    package = "envcore_classic_control"
    return [
        EnvSpec(
            id="CartPole-v1",
            entry_point=f"{package}.cartpole:CartPole",
            summary="Balance a pole on a cart.",
            source=f"{_SOURCE}, Barto, Sutton & Anderson (1983)",
        ),
        EnvSpec(
            id="Pendulum-v1",
            entry_point=f"{package}.pendulum:Pendulum",
            summary="Swing a pendulum up and hold it, with limited torque.",
            source=_SOURCE,
        ),
        EnvSpec(
            id="Acrobot-v1",
            entry_point=f"{package}.acrobot:Acrobot",
            summary="Swing the tip of a two-link pendulum above a line.",
            source=f"{_SOURCE}, Sutton (1996)",
        ),
        EnvSpec(
            id="MountainCar-v0",
            entry_point=f"{package}.mountain_car:MountainCar",
            summary="Drive an underpowered car up a hill with three actions.",
            source=f"{_SOURCE}, Moore (1990)",
        ),
        EnvSpec(
            id="MountainCarContinuous-v0",
            entry_point=f"{package}.mountain_car_continuous:MountainCarContinuous",
            summary="Drive an underpowered car up a hill, with continuous force.",
            source=f"{_SOURCE}, Moore (1990)",
        ),
    ]
