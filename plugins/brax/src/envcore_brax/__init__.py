"""envcore and brax: each one's environments for the other.

    env, params = envcore.make("brax/ant")

is brax's ant in envcore, and `from_brax` brings in environments of brax that are not listed;

    env = BraxEnv("Pendulum-v1")

is an environment of envcore for programs that are written for brax, such as its own PPO and SAC.

Names are imported on first use: importing this package imports neither JAX nor brax.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # type checkers take it for True; importing `typing` would take most of this module's time
if TYPE_CHECKING:
    from typing import Any

    from envcore_brax.bridge import BraxParams as BraxParams
    from envcore_brax.bridge import FromBrax as FromBrax
    from envcore_brax.bridge import from_brax as from_brax
    from envcore_brax.env import BraxEnv as BraxEnv

_MODULES = {"BraxEnv": "env", "BraxParams": "bridge", "FromBrax": "bridge", "from_brax": "bridge"}

__all__ = ["BraxEnv", "BraxParams", "FromBrax", "from_brax"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
