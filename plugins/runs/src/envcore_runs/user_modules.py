"""What users bring from modules of their own, as `MODULE:NAME`. Imports no JAX."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from envcore.errors import InvalidArgumentError, one_line


def is_reference(name: str) -> bool:
    """Whether a text reads `MODULE:NAME`."""
    module, _, attribute = name.partition(":")
    is_file = module.endswith(".py")  # which a user may write instead of the module's name
    return attribute.isidentifier() and all(map(str.isidentifier, module.split("."))) and not is_file


def imported(what: str, name: str, words: Sequence[str] = (), noun: str = "NAME") -> Any:
    """Imports what a user names as `MODULE:NAME`; the module may be in the working directory.

    Args:
      what: the option or argument, for error messages.
      name: its value.
      words: other values that it takes, for error messages.
      noun: what NAME is the name of, for error messages.

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


def imported_function(what: str, name: str, words: Sequence[str] = ("random",)) -> Callable[..., Any]:
    """`imported`, for what must be a function.

    Raises:
      InvalidArgumentError: as for `imported`, or it is not a function.
    """
    found = imported(what, name, words, "FUNCTION")
    if not callable(found):
        raise InvalidArgumentError(f"{what} {name} is not a function, but {found!r}.")
    return found


def find_in_working_directory() -> None:
    """Lets modules be imported from the working directory, as Python does for a script that lies there."""
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)


def reference_to(what: str, value: Any) -> str:
    """`MODULE:NAME` of a function or a class, by which another process finds it.

    Raises:
      InvalidArgumentError: its module has nothing of this name, or something else, or is a script.
    """
    from envcore_runs.description import name_of

    name = name_of(value)
    module, _, attribute = name.partition(":")
    # Another process that runs no script, or another one, has another __main__.
    if module == "__main__" or getattr(sys.modules.get(module), attribute, None) is not value:
        place = "a module that the script imports" if module == "__main__" else "a module"
        shown = " ".join(repr(value).split())
        raise InvalidArgumentError(
            f"{what} {shown} has no name by which a saved run can find it: define it at the top of {place}, or give "
            "its 'MODULE:NAME'."
        )
    return name
