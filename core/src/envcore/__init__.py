"""envcore: reinforcement learning environments as pure JAX functions.

    env, params = envcore.make("CartPole-v1")
    obs, state = env.reset(key, params)
    obs, state, reward, done, info = env.step(key, state, action, params)

Names are imported on first use, so that `import envcore` costs next to nothing and starts no JAX backend.
"""

from __future__ import annotations

import importlib

from envcore.version import __version__ as __version__

TYPE_CHECKING = False  # type checkers treat it as True; importing `typing` would take most of this module's time
if TYPE_CHECKING:
    from typing import Any

    from envcore import errors as errors
    from envcore import painting as painting
    from envcore import plugins as plugins
    from envcore import random as random
    from envcore import rendering as rendering
    from envcore import require as require
    from envcore import rollout as rollout
    from envcore import spaces as spaces
    from envcore import wrappers as wrappers
    from envcore.environment import NO_TIME_LIMIT as NO_TIME_LIMIT
    from envcore.environment import Environment as Environment
    from envcore.environment import EnvParams as EnvParams
    from envcore.environment import EnvState as EnvState
    from envcore.errors import EnvcoreError as EnvcoreError
    from envcore.registration import make as make
    from envcore.registration import register as register
    from envcore.registration import registry as registry
    from envcore.rollout import RolloutWrapper as RolloutWrapper
    from envcore.specs import CommandSpec as CommandSpec
    from envcore.specs import EnvSpec as EnvSpec

_MODULES = (
    "errors",
    "painting",
    "plugins",
    "random",
    "rendering",
    "require",
    "rollout",
    "spaces",
    "wrappers",
)
_HOME = {
    "NO_TIME_LIMIT": "environment",
    "Environment": "environment",
    "EnvParams": "environment",
    "EnvState": "environment",
    "EnvcoreError": "errors",
    "make": "registration",
    "register": "registration",
    "registry": "registration",
    "RolloutWrapper": "rollout",
    "CommandSpec": "specs",
    "EnvSpec": "specs",
}

__all__ = [*_HOME, *_MODULES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"envcore.{name}")
    if name in _HOME:
        return getattr(importlib.import_module(f"envcore.{_HOME[name]}"), name)
    raise AttributeError(f"module 'envcore' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
