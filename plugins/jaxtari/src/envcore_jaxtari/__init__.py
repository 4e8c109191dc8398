"""JAXtari's Atari games in envcore.

    env, params = envcore.make("jaxtari/pong")

or, for a game that is not listed:

    env = envcore_jaxtari.from_jaxtari(MyGame, option=1)

Names are imported on first use: importing this package imports neither JAX nor jaxtari.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # type checkers take it for True; importing `typing` would take most of this module's time
if TYPE_CHECKING:
    from typing import Any

    from envcore_jaxtari.bridge import FromJaxtari as FromJaxtari
    from envcore_jaxtari.bridge import from_jaxtari as from_jaxtari

__all__ = ["FromJaxtari", "from_jaxtari"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.bridge"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
