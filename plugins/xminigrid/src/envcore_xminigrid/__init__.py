"""XLand-MiniGrid's environments in envcore.

    env, params = envcore.make("xminigrid/MiniGrid-DoorKey-8x8")

or, for an environment that is not listed:

    env = envcore_xminigrid.from_xminigrid(MyEnvironment, option=1)

Names are imported on first use: importing this package imports neither JAX nor xminigrid.
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

    from envcore_xminigrid.bridge import FromXMiniGrid as FromXMiniGrid
    from envcore_xminigrid.bridge import from_xminigrid as from_xminigrid

__all__ = ["FromXMiniGrid", "from_xminigrid"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.bridge"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
