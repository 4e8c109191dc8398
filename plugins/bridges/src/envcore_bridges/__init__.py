"""Use environments of other libraries as envcore environments.

    env, params = envcore.make("pgx/2048")

For an environment that is not registered, call `from_brax`, `from_gymnasium`, `from_gymnax`, `from_jaxtari`,
`from_jumanji`, `from_navix`, `from_pgx`, `from_playground` or `from_xminigrid`:

    env = envcore_bridges.from_pgx(MyEnvironment, option=1)

To write a bridge to another library, subclass `envcore_bridges.base.ForeignEnvironment`.

Functions are imported on first use, so importing this package imports neither JAX nor any of the libraries.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # type checkers treat it as True, and importing `typing` would be slow
if TYPE_CHECKING:
    from collections.abc import Callable

    from envcore_bridges.base import ForeignEnvironment


def __getattr__(name: str) -> Callable[..., ForeignEnvironment]:
    if name not in _functions():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{name.removeprefix('from_')}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_functions()})


def _functions() -> set[str]:
    libraries = importlib.import_module(f"{__name__}.libraries").LIBRARIES
    return {f"from_{library.package}" for library in libraries}
