"""How a bridge makes its library's environment: from a name or a function, with options, once for equal ones."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Collection, Generator, Mapping
from typing import Any

import jax
from envcore import forks
from envcore.errors import EnvcoreError, InvalidArgumentError
from envcore.suggestions import nearest

from envcore_bridges.base.numerics import default_numerics
from envcore_bridges.libraries import BY_MODULE, missing


def check_arguments(source: Any, options: Mapping[str, Any]) -> None:
    """Raises `InvalidArgumentError` for a source that makes nothing, or an option that is not hashable."""
    if not (isinstance(source, str) or callable(source)):
        raise InvalidArgumentError(
            "a bridge needs a name, or a class or function that makes the environment, got an instance of "
            f"{type(source).__name__}: for an environment that exists already, pass `lambda: environment`."
        )
    for name, value in options.items():
        if isinstance(value, list | dict | set):
            raise InvalidArgumentError(f"the option {name!r} must be hashable, such as a tuple, got {value!r}.")


@contextlib.contextmanager
def errors_of_options(options: Mapping[str, Any]) -> Generator[None]:
    """Turns what a library raises for the options that it is given into an `InvalidArgumentError`."""
    try:
        yield
    except EnvcoreError:
        raise
    except (TypeError, ValueError, LookupError, OverflowError, RuntimeError) as error:
        if not options:
            raise
        raise InvalidArgumentError(str(error)) from error


@functools.lru_cache(maxsize=512)
def loaded(env: Any) -> Any:
    """The library's environment, made once for equal environments.

    Raises:
      EnvironmentLoadError: one of our libraries is not installed.
      EnvcoreError: this process was forked after JAX had started.
    """
    forks.check()  # most libraries compute something
    try:
        # What a library computes while it makes an environment must not become part of a trace that is going on.
        with default_numerics(), jax.ensure_compile_time_eval():
            return env.load()
    except ModuleNotFoundError as error:
        library = BY_MODULE.get(error.name or "")
        if library is None:
            raise
        raise missing(library.family, env.name) from error


def types_in(value: Any) -> Any:
    """The type of a value, and those in it if it is a tuple."""
    return tuple(map(types_in, value)) if isinstance(value, tuple) else type(value)


def unknown_name(library: str, name: str, names: Collection[str]) -> InvalidArgumentError:
    """The error for a name of an environment that a library does not have.

    Args:
      library: its name.
      name: the name.
      names: those that it has.
    """
    near, first = nearest(name, names), sorted(names)[:5]
    some = f"It has {', '.join(first)}{f' and {len(names) - 5} more' if len(names) > 5 else ''}."
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else some
    return InvalidArgumentError(f"{library} has no environment {name!r}. {hint}")
