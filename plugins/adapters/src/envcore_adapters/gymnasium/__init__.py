"""envcore's environments for programs that are written for Gymnasium.

    import envcore_adapters.gymnasium  # registers the installed environments

    env = gymnasium.make("envcore/CartPole-v1")
    envs = gymnasium.make_vec("envcore/CartPole-v1", num_envs=1024)

    env = GymnasiumEnv(my_env, params)  # any environment of envcore, with or without wrappers

Importing this package imports neither JAX nor any environment; names are imported on first use. It
needs gymnasium, which the extra `envcore-adapters[gymnasium]` installs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from envcore_adapters import needs

with needs("gymnasium"):
    from envcore_adapters.gymnasium.registration import gymnasium_id as gymnasium_id
    from envcore_adapters.gymnasium.registration import register as register

if TYPE_CHECKING:
    from envcore_adapters.gymnasium.env import GymnasiumEnv as GymnasiumEnv
    from envcore_adapters.gymnasium.func_env import GymnasiumFuncEnv as GymnasiumFuncEnv
    from envcore_adapters.gymnasium.spaces import from_gymnasium_space as from_gymnasium_space
    from envcore_adapters.gymnasium.spaces import to_gymnasium_space as to_gymnasium_space
    from envcore_adapters.gymnasium.vector_env import GymnasiumVectorEnv as GymnasiumVectorEnv

_HOME = {
    "GymnasiumEnv": "env",
    "GymnasiumFuncEnv": "func_env",
    "GymnasiumVectorEnv": "vector_env",
    "from_gymnasium_space": "spaces",
    "to_gymnasium_space": "spaces",
}

__all__ = [*_HOME, "gymnasium_id", "register"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


register()
