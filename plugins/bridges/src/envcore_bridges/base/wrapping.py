"""A library's wrappers: the environment inside of them, and copies in which it is changed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any


def layers(library_env: Any) -> Iterator[Any]:
    """A library's environment, and what its wrappers hold as `env` or `_env`, from the outermost to the innermost.

    Args:
      library_env: the environment, or a pair of it and its params.
    """
    if isinstance(library_env, tuple):
        library_env = library_env[0]
    while library_env is not None:
        yield library_env
        held = _held_as(library_env)
        library_env = None if held is None else getattr(library_env, held)


def rebuilt(library_env: Any, change: Callable[[Any], None]) -> Any:
    """A copy of a library's environment and of its wrappers (see `layers`), whose innermost one has been changed.

    Args:
      library_env: the environment, which stays as it is.
      change: changes the copy of the innermost environment in place.
    """
    library_env = copy.copy(library_env)
    held = _held_as(library_env)
    if held is None:
        change(library_env)
    else:
        setattr(library_env, held, rebuilt(getattr(library_env, held), change))
    return library_env


def _held_as(library_env: Any) -> str | None:
    """The name of the attribute in which a wrapper holds its environment; None for what is no wrapper."""
    attributes = getattr(library_env, "__dict__", {})
    return next((name for name in ("env", "_env") if attributes.get(name) is not None), None)
