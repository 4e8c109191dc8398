"""`install`: makes `import gymnax` find this package."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any

from envcore.errors import EnvcoreError

from envcore_gymnax.settings import set_six_values

_OURS = "envcore_gymnax"


def install(*, six_values: bool = False) -> None:
    """Makes `import gymnax`, anywhere in this process, import this package, whether gymnax is installed or not.

    Call it before anything imports gymnax.

    Args:
      six_values: whether `step` returns the six values of gymnax 1 instead of five. Programs for gymnax 0 need five.

    Raises:
      EnvcoreError: the real gymnax has been imported already.
    """
    found = sys.modules.get("gymnax")
    if found is not None and found is not sys.modules[_OURS]:
        raise EnvcoreError(
            f"gymnax is imported already, from {getattr(found, '__file__', found)}: call envcore_gymnax.install() "
            "before whatever imports it."
        )
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    set_six_values(six_values)
    importlib.import_module("gymnax")


def uninstall() -> None:
    """Undoes `install`: `import gymnax` finds the real one again, in modules that are imported from now on."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
    for name in [name for name in sys.modules if name.partition(".")[0] == "gymnax"]:
        del sys.modules[name]
    set_six_values(False)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds gymnax and its modules here."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        top, _, rest = fullname.partition(".")
        if top != "gymnax":
            return None
        ours = f"{_OURS}.{rest}" if rest else _OURS
        if importlib.util.find_spec(ours) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, _Loader(ours), is_package=True)


class _Loader(importlib.abc.Loader):
    """Hands out a module of ours, as it is."""

    def __init__(self, ours: str):
        self._ours = ours

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        self._module = importlib.import_module(self._ours)
        self._spec = self._module.__spec__
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # which the import system has replaced by that of gymnax
