"""Jumanji's environments in envcore.

    env, params = envcore.make("jumanji/Snake-v1")

or, for an environment that is not listed:

    env = envcore_jumanji.from_jumanji(MyEnvironment, option=1)

Names are imported on first use: importing this package imports neither JAX nor jumanji.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # type checkers take it for True; importing `typing` would take most of this module's time
if TYPE_CHECKING:
    from typing import Any

    from envcore_jumanji.bridge import FromJumanji as FromJumanji
    from envcore_jumanji.bridge import from_jumanji as from_jumanji

__all__ = ["FromJumanji", "from_jumanji"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.bridge"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
