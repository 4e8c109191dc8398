"""Navix's environments in envcore.

    env, params = envcore.make("navix/Navix-DoorKey-8x8-v0")

or, for an environment that is not listed:

    env = envcore_navix.from_navix(MyEnvironment, option=1)

Names are imported on first use: importing this package imports neither JAX nor navix.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # type checkers take it for True; importing `typing` would take most of this module's time
if TYPE_CHECKING:
    from typing import Any

    from envcore_navix.bridge import FromNavix as FromNavix
    from envcore_navix.bridge import from_navix as from_navix

__all__ = ["FromNavix", "from_navix"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.bridge"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
