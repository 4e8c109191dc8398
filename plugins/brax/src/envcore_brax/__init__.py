"""envcore's environments for programs that are written for brax, such as its own PPO and SAC.

    env = BraxEnv("Pendulum-v1")

Names are imported on first use: importing this package imports neither JAX nor brax.
"""

from __future__ import annotations

import importlib

try:
    from envcore.errors import InvalidActionError as _  # noqa: F401
except ImportError:  # another project's `envcore` is installed
    import importlib.metadata
    import sys

    found = [each.version for each in importlib.metadata.distributions(name="envcore")][:1]
    found += [str(getattr(sys.modules.get("envcore"), "__file__", "not importable"))]
    raise ImportError(
        f"{__name__} needs envcore>=0.2, the library of JAX environments, and the installed envcore is not that "
        f"({', '.join(found)}): run `pip install ./core` in a clone of its repository, or "
        "`pip install 'envcore>=0.2'` once it is released"
    ) from None

TYPE_CHECKING = False  # type checkers take it for True; importing `typing` would take most of this module's time
if TYPE_CHECKING:
    from typing import Any

    from envcore_brax.env import BraxEnv as BraxEnv

__all__ = ["BraxEnv"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.env"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
