"""Gymnasium's classic control environments as pure JAX functions.

    env, params = envcore.make("CartPole-v1")

or, with types that your editor understands:

    from envcore_classic_control import CartPole

Names are imported on first use, so importing this package imports no environment.
"""

from __future__ import annotations

from envcore.lazy import lazy_names

TYPE_CHECKING = False  # type checkers treat it as True
if TYPE_CHECKING:
    from envcore_classic_control.acrobot import Acrobot as Acrobot
    from envcore_classic_control.acrobot import AcrobotParams as AcrobotParams
    from envcore_classic_control.acrobot import AcrobotState as AcrobotState
    from envcore_classic_control.cartpole import CartPole as CartPole
    from envcore_classic_control.cartpole import CartPoleParams as CartPoleParams
    from envcore_classic_control.cartpole import CartPoleState as CartPoleState
    from envcore_classic_control.mountain_car import MountainCar as MountainCar
    from envcore_classic_control.mountain_car import MountainCarParams as MountainCarParams
    from envcore_classic_control.mountain_car import MountainCarState as MountainCarState
    from envcore_classic_control.mountain_car_continuous import MountainCarContinuous as MountainCarContinuous
    from envcore_classic_control.mountain_car_continuous import (
        MountainCarContinuousParams as MountainCarContinuousParams,
    )
    from envcore_classic_control.pendulum import Pendulum as Pendulum
    from envcore_classic_control.pendulum import PendulumParams as PendulumParams
    from envcore_classic_control.pendulum import PendulumState as PendulumState

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "acrobot": ["Acrobot", "AcrobotParams", "AcrobotState"],
        "cartpole": ["CartPole", "CartPoleParams", "CartPoleState"],
        "mountain_car": ["MountainCar", "MountainCarParams", "MountainCarState"],
        "mountain_car_continuous": ["MountainCarContinuous", "MountainCarContinuousParams"],
        "pendulum": ["Pendulum", "PendulumParams", "PendulumState"],
    },
)
