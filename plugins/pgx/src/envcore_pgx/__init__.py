"""Pgx's environments in envcore.

    env, params = envcore.make("pgx/2048")

or, for an environment that is not listed:

    env = envcore_pgx.from_pgx(MyEnvironment, option=1)

Names are imported on first use: importing this package imports neither JAX nor pgx.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # type checkers take it for True; importing `typing` would take most of this module's time
if TYPE_CHECKING:
    from typing import Any

    from envcore_pgx.bridge import FromPgx as FromPgx
    from envcore_pgx.bridge import from_pgx as from_pgx

__all__ = ["FromPgx", "from_pgx"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.bridge"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
