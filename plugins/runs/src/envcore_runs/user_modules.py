"""Imports users' own classes and functions, given as `MODULE:NAME`. Imports no JAX."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from envcore.errors import InvalidArgumentError, one_line


def is_reference(name: str) -> bool:
    """Returns whether a text has the form `MODULE:NAME`."""
    module, _, attribute = name.partition(":")
    is_file = module.endswith(".py")  # users sometimes write the file name instead of the module's name
    return attribute.isidentifier() and all(map(str.isidentifier, module.split("."))) and not is_file


def imported(what: str, name: str, words: Sequence[str] = (), noun: str = "NAME") -> Any:
    """Imports an object given as `MODULE:NAME`. The module can be in the working directory.

    Args:
      what: the option or argument, for error messages.
      name: the value, `MODULE:NAME`.
      words: other allowed values, for error messages.
      noun: what to call NAME in error messages.

    Raises:
      InvalidArgumentError: the name is malformed, or it cannot be imported.
    """
    module, _, attribute = name.partition(":")
    if not is_reference(name):
        either = f"{', '.join(words)} or " if words else ""
        raise InvalidArgumentError(f"{what} must be {either}MODULE:{noun}, as in `import MODULE`, got {name!r}.")
    find_in_working_directory()
    try:
        return getattr(importlib.import_module(module), attribute)
    except (Exception, SystemExit) as error:
        raise InvalidArgumentError(f"{what} {name} cannot be imported: {one_line(error)}") from error


def imported_function(what: str, name: str, words: Sequence[str] = ()) -> Callable[..., Any]:
    """Like `imported`, but the object must be a function.

    Raises:
      InvalidArgumentError: as for `imported`, or it is not a function.
    """
    found = imported(what, name, words, "FUNCTION")
    if not callable(found):
        raise InvalidArgumentError(f"{what} {name} is not a function, but {found!r}.")
    return found


def find_in_working_directory() -> None:
    """Makes modules in the working directory importable, as Python does for the folder of a script."""
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)


def reference_to(what: str, value: Any) -> str:
    """Returns `MODULE:NAME` of a function or class, with which another process can import it.

    Raises:
      InvalidArgumentError: its module is a script, or does not define it under this name.
    """
    from envcore_runs.description import name_of

    name = name_of(value)
    module, _, attribute = name.partition(":")
    # Another process has a different __main__.
    if module == "__main__" or getattr(sys.modules.get(module), attribute, None) is not value:
        place = "a module that the script imports" if module == "__main__" else "a module"
        shown = " ".join(repr(value).split())
        raise InvalidArgumentError(
            f"{what} {shown} has no name by which a saved run can find it. Define it at the top level of {place}, or "
            "pass its 'MODULE:NAME'."
        )
    return name
