"""gymnax's interface to envcore's environments, for programs that are written for gymnax.

    import envcore_gymnax as gymnax

    env, params = gymnax.make("CartPole-v1")

For somebody else's program, which says `import gymnax`:

    import envcore_gymnax

    envcore_gymnax.install()
    import rejax

Names are imported on first use: importing this package imports neither JAX nor any environment.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # type checkers take it for True; importing `typing` would take most of this module's time
if TYPE_CHECKING:
    from typing import Any

    from envcore_gymnax import environments as environments
    from envcore_gymnax import experimental as experimental
    from envcore_gymnax import registration as registration
    from envcore_gymnax import wrappers as wrappers
    from envcore_gymnax.alias import install as install
    from envcore_gymnax.alias import uninstall as uninstall
    from envcore_gymnax.environments.environment import EnvParams as EnvParams
    from envcore_gymnax.environments.environment import EnvState as EnvState
    from envcore_gymnax.registration import make as make
    from envcore_gymnax.registration import register as register
    from envcore_gymnax.registration import registered_envs as registered_envs

_MODULES = ("environments", "experimental", "registration", "utils", "visualize", "wrappers")
_HOME = {
    "EnvParams": "environments.environment",
    "EnvState": "environments.environment",
    "install": "alias",
    "make": "registration",
    "register": "registration",
    "registered_envs": "registration",
    "uninstall": "alias",
}

__all__ = [*_HOME, *_MODULES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
