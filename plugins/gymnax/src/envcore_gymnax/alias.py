"""`install`: make `import gymnax` import this package."""

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
    """Makes `import gymnax` import this package everywhere in this process, whether or not gymnax is installed.

    Call it before anything imports gymnax.

    Args:
      six_values: whether `step` returns the six values of gymnax 1 instead of five. Programs for gymnax 0 need five.

    Raises:
      EnvcoreError: the real gymnax is already imported.
    """
    found = sys.modules.get("gymnax")
    if found is not None and found is not sys.modules[_OURS]:
        raise EnvcoreError(
            f"gymnax is imported already, from {getattr(found, '__file__', found)}: call envcore_gymnax.install() "
            "before anything imports gymnax."
        )
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    set_six_values(six_values)
    importlib.import_module("gymnax")


def uninstall() -> None:
    """Undoes `install`. Modules that you import from now on get the real gymnax again."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not _finder]
    for name in [name for name in sys.modules if name.partition(".")[0] == "gymnax"]:
        del sys.modules[name]
    set_six_values(False)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports this package's modules under gymnax's names."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        is_gymnax = fullname.partition(".")[0] == "gymnax" and importlib.util.find_spec(_ours(fullname)) is not None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True) if is_gymnax else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(_ours(spec.name))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        spec: Any = module.__spec__  # the import system has replaced our spec by gymnax's
        module.__spec__ = spec.loader_state


_finder = _Finder()


def _ours(name: str) -> str:
    return _OURS + name.removeprefix("gymnax")
