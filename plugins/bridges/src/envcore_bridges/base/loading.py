"""How a bridge makes its library's environment, once for equal ones, and looks into and changes its wrappers."""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from typing import Any

import jax
from envcore import forks
from envcore.errors import EnvcoreError, InvalidArgumentError
from envcore.suggestions import nearest

from envcore_bridges.libraries import BY_MODULE, missing


@contextlib.contextmanager
def default_numerics() -> Generator[None]:
    """A context with 32 bits and ordinary promotion, with which other libraries were written."""
    with jax.enable_x64(False), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


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
def errors_of_library(name: str, source: Any, options: Mapping[str, Any]) -> Generator[None]:
    """Turns what a library raises for a source or for options into an `InvalidArgumentError`."""
    try:
        yield
    except EnvcoreError:
        raise
    except AttributeError as error:
        if isinstance(source, str):
            raise
        raise InvalidArgumentError(f"{name} makes no environment of the library's: {error}.") from error
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
