"""envcore's environments for programs that are written for dm_env: Acme, bsuite's agents and others.

from envcore_dm_env import DmEnv

env = DmEnv("Catch-bsuite", seed=0)

The class is imported on first use.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # type checkers take it for True; importing `typing` would take most of this module's time
if TYPE_CHECKING:
    from typing import Any

    from envcore_dm_env.env import DmEnv as DmEnv

__all__ = ["DmEnv"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.env"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
