"""Names of a package that are imported on first use (PEP 562), so that importing the package costs next to nothing."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # type checkers treat it as True; importing `typing` would take most of a light package's time
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any


def lazy_names(
    package: str, names: Mapping[str, Iterable[str]], modules: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a package.

        __getattr__, __dir__, __all__ = lazy_names(__name__, {"pendulum": ["Pendulum", "PendulumParams"]})

    Type checkers cannot follow it: import the same names under `if TYPE_CHECKING:` as well.

    Args:
      package: the package's `__name__`.
      names: by module of the package, the names that it defines.
      modules: modules of the package that are names of it themselves.
    """
    homes = {name: module for module, members in names.items() for name in members}
    submodules = frozenset(modules)
    public = sorted([*homes, *submodules])

    def getattr_(name: str) -> Any:
        if name in submodules:
            return importlib.import_module(f"{package}.{name}")
        if name in homes:
            return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def dir_() -> list[str]:
        return sorted({*vars(importlib.import_module(package)), *public})

    return getattr_, dir_, public
