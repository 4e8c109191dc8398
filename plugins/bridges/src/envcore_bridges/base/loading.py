"""Make and cache a library's environment, and inspect or change its wrappers."""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Callable, Collection, Generator, Hashable, Iterator, Mapping
from typing import Any

import jax
from envcore import forks
from envcore.errors import EnvcoreError, InvalidArgumentError
from envcore.suggestions import nearest

from envcore_bridges.libraries import BY_MODULE, missing


@contextlib.contextmanager
def default_numerics() -> Generator[None]:
    """Context manager for 32 bits and JAX's standard type promotion, which other libraries expect."""
    with jax.enable_x64(False), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def check_arguments(source: Any, options: Mapping[str, Any]) -> None:
    """Raises `InvalidArgumentError` if `source` is neither a name nor callable, or if an option is not hashable."""
    if not (isinstance(source, str) or callable(source)):
        raise InvalidArgumentError(
            f"a bridge needs a name, or a class or function that makes the environment, got {source!r}."
        )
    for name, value in options.items():
        if not isinstance(value, Hashable):
            raise InvalidArgumentError(f"the option {name!r} must be hashable, such as a tuple, got {value!r}.")


@contextlib.contextmanager
def errors_of_library(name: str, source: Any, options: Mapping[str, Any]) -> Generator[None]:
    """Converts the library's errors about a source or options to `InvalidArgumentError`."""
    try:
        yield
    except EnvcoreError:
        raise
    except AttributeError as error:
        if isinstance(source, str):
            raise
        raise InvalidArgumentError(f"{name} does not make an environment of the library: {error}.") from error
    except (TypeError, ValueError, LookupError, OverflowError, RuntimeError) as error:
        if not options:
            raise
        raise InvalidArgumentError(str(error.args[0] if isinstance(error, KeyError) else error)) from error


@functools.lru_cache(maxsize=512)
def loaded(env: Any) -> Any:
    """Makes the library's environment. The result is cached for equal environments.

    Raises:
      EnvironmentLoadError: the library is not installed.
      EnvcoreError: this process was forked after JAX was initialized.
    """
    forks.check()  # most libraries compute with JAX here
    try:
        # The library's computations must not become part of a trace in progress.
        with default_numerics(), jax.ensure_compile_time_eval():
            return env.load()
    except ModuleNotFoundError as error:
        library = BY_MODULE.get(error.name or "")
        if library is None:
            raise
        raise missing(library.family, env.name) from error


def unknown_name(library: str, name: str, names: Collection[str]) -> InvalidArgumentError:
    """Returns the error for an unknown environment name. It suggests similar names.

    Args:
      library: name of the library.
      name: the unknown name.
      names: names of the library's environments.
    """
    near, first = nearest(name, names), sorted(names)[:5]
    some = f"It has {', '.join(first)}{f' and {len(names) - 5} more' if len(names) > 5 else ''}."
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else some
    return InvalidArgumentError(f"{library} has no environment {name!r}. {hint}")


def layers(library_env: Any) -> Iterator[Any]:
    """Iterates over a library's wrappers and environment, from the outermost to the innermost.

    A wrapper holds its environment as `env` or `_env`.

    Args:
      library_env: the environment, or a pair (environment, params).
    """
    library_env = library_env[0] if isinstance(library_env, tuple) else library_env
    while library_env is not None:
        yield library_env
        held = _held_as(library_env)
        library_env = None if held is None else getattr(library_env, held)


def rebuilt(library_env: Any, change: Callable[[Any], None]) -> Any:
    """Copies a library's environment with its wrappers (see `layers`), and changes the innermost environment.

    Args:
      library_env: the environment, which is not modified.
      change: modifies the copy of the innermost environment in place.
    """
    library_env = copy.copy(library_env)
    held = _held_as(library_env)
    if held is None:
        change(library_env)
    else:
        setattr(library_env, held, rebuilt(getattr(library_env, held), change))
    return library_env


def _held_as(library_env: Any) -> str | None:
    """Returns the attribute in which a wrapper holds its environment. None if `library_env` is not a wrapper."""
    attributes = getattr(library_env, "__dict__", {})
    return next((name for name in ("env", "_env") if attributes.get(name) is not None), None)
