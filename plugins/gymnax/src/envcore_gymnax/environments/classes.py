"""gymnax's environment classes, in modules with gymnax's names. You can pass options to each class."""

from __future__ import annotations

import functools
import importlib.machinery
import sys
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp

from envcore_gymnax.environments.environment import EnvcoreEnvironment
from envcore_gymnax.settings import GymnaxState

_MODULES = {
    "classic_control": {
        "acrobot": ("Acrobot", "Acrobot-v1"),
        "cartpole": ("CartPole", "CartPole-v1"),
        "continuous_mountain_car": ("ContinuousMountainCar", "MountainCarContinuous-v0"),
        "mountain_car": ("MountainCar", "MountainCar-v0"),
        "pendulum": ("Pendulum", "Pendulum-v1"),
    },
    "bsuite": {
        "bandit": ("SimpleBandit", "SimpleBandit-bsuite"),
        "catch": ("Catch", "Catch-bsuite"),
        "deep_sea": ("DeepSea", "DeepSea-bsuite"),
        "discounting_chain": ("DiscountingChain", "DiscountingChain-bsuite"),
        "memory_chain": ("MemoryChain", "MemoryChain-bsuite"),
        "mnist": ("MNISTBandit", "MNISTBandit-bsuite"),
        "umbrella_chain": ("UmbrellaChain", "UmbrellaChain-bsuite"),
    },
    "minatar": {
        "asterix": ("MinAsterix", "Asterix-MinAtar"),
        "breakout": ("MinBreakout", "Breakout-MinAtar"),
        "freeway": ("MinFreeway", "Freeway-MinAtar"),
        "seaquest": ("MinSeaquest", "Seaquest-MinAtar"),
        "space_invaders": ("MinSpaceInvaders", "SpaceInvaders-MinAtar"),
    },
    "misc": {
        "bernoulli_bandit": ("BernoulliBandit", "BernoulliBandit-misc"),
        "frozen_lake": ("FrozenLake", "FrozenLake-misc"),
        "gaussian_bandit": ("GaussianBandit", "GaussianBandit-misc"),
        "meta_maze": ("MetaMaze", "MetaMaze-misc"),
        "point_robot": ("PointRobot", "PointRobot-misc"),
        "pong": ("Pong", "Pong-misc"),
        "reacher": ("Reacher", "Reacher-misc"),
        "rooms": ("FourRooms", "FourRooms-misc"),
        "swimmer": ("Swimmer", "Swimmer-misc"),
    },
}
"""gymnax's modules of each suite, with the class and envcore's id."""


def members_of(suite: str) -> dict[str, Any]:
    """Returns the classes and modules of a gymnax suite by name, and makes the modules importable."""
    members: dict[str, Any] = {}
    for name, (class_name, env_id) in _MODULES[suite].items():
        members[class_name] = _class(suite, class_name, env_id)
        members[name] = _module(f"envcore_gymnax.environments.{suite}.{name}", members[class_name], env_id)
    return members


def _class(suite: str, name: str, env_id: str) -> type[EnvcoreEnvironment]:
    def __init__(self: EnvcoreEnvironment, **options: Any) -> None:  # noqa: N807
        EnvcoreEnvironment.__init__(self, env_id, **options)

    module = f"envcore_gymnax.environments.{suite}"
    doc = f"gymnax's class for {env_id}. Takes the options of envcore's environment."
    return type(name, (EnvcoreEnvironment,), {"__init__": __init__, "__module__": module, "__doc__": doc})


def _module(name: str, cls: type[EnvcoreEnvironment], env_id: str) -> ModuleType:
    """Makes a module with the class, and with `EnvState` and `EnvParams`, which make states and params from fields."""

    def new_state(_: type, **fields: Any) -> GymnaxState:
        start = _start(env_id)
        return start.replace(**{name: jnp.asarray(value, getattr(start, name).dtype) for name, value in fields.items()})

    def new_params(_: type, **fields: Any) -> Any:
        return EnvcoreEnvironment(env_id).default_params.replace(**fields)

    state_doc = f"Makes a state of {env_id} from numbers of any type. Missing fields have their initial values."
    params_doc = f"Makes params of {env_id}. Missing fields have the values of `make`."
    module = ModuleType(name, f"gymnax's module for {cls.__name__}.")
    module.__spec__ = importlib.machinery.ModuleSpec(name, None)
    state = type("EnvState", (), {"__new__": new_state, "__module__": name, "__doc__": state_doc})
    params = type("EnvParams", (), {"__new__": new_params, "__module__": name, "__doc__": params_doc})
    vars(module).update({cls.__name__: cls, "EnvState": state, "EnvParams": params})
    sys.modules[name] = module
    return module


@functools.cache
def _start(env_id: str) -> Any:
    env = EnvcoreEnvironment(env_id)
    with jax.ensure_compile_time_eval():  # the caller may be tracing, and the result is cached
        return env.reset(jax.random.key(0))[1]
