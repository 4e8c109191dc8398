"""Imports the names of a package on first use (PEP 562), so that importing the package is fast."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # type checkers treat it as True, and importing `typing` is slow compared with a light package
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any


def lazy_names(
    package: str, names: Mapping[str, Iterable[str]], modules: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Returns the `__getattr__`, `__dir__` and `__all__` of a package with lazily imported names.

        __getattr__, __dir__, __all__ = lazy_names(__name__, {"pendulum": ["Pendulum", "PendulumParams"]})

    Type checkers don't understand it, so import the same names under `if TYPE_CHECKING:` as well.

    Args:
      package: the package's `__name__`.
      names: the names to import from each module of the package.
      modules: modules of the package that are public names themselves.
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
