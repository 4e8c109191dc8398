"""brax's environments in envcore.

    env, params = envcore.make("brax/ant")

or, for an environment that is not listed:

    env = envcore_brax.from_brax(MyEnvironment, option=1)

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

__all__ = ["BraxParams", "FromBrax", "from_brax"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.bridge"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
