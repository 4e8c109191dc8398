"""Makes the environment of a registration: imports its class or function, and checks the options."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeGuard

from envcore.catalogue import Registration
from envcore.errors import EnvironmentLoadError, InvalidArgumentError
from envcore.plugins import import_entry_point
from envcore.specs import is_hashable
from envcore.text import printable

if TYPE_CHECKING:
    from envcore.environment import Environment


def is_factory(value: object) -> TypeGuard[Callable[..., Environment[Any, Any]]]:
    """Whether the value can make environments: a subclass of `Environment`, or a function."""
    if not isinstance(value, type):
        return inspect.isfunction(value)
    from envcore.environment import Environment

    return issubclass(value, Environment)


def construct(registration: Registration, kwargs: dict[str, object]) -> Environment[Any, Any]:
    """Makes the environment of a registration. See `envcore.make`.

    Raises:
      EnvironmentLoadError: its entry point cannot be imported, or is neither a subclass of `Environment` nor a function
        that returns one.
      InvalidArgumentError: an option is unknown or refused.
    """
    factory = registration.factory or _import_factory(registration)
    from envcore.environment import Environment

    env_id = registration.spec.id
    names, takes_any = _option_names(factory)
    unknown = [] if takes_any else sorted(set(kwargs) - set(names))
    if unknown:
        message = (
            f"{env_id} got an unexpected keyword argument {unknown[0]!r}; its options: {', '.join(names) or 'none'}."
        )
        if unknown[0] in _param_names(registration, factory):
            message += (
                f" {unknown[0]!r} is a parameter: params = params.replace({unknown[0]}=...), "
                f"or --set {unknown[0]}=... on the command line of envcore-cli."
            )
        raise InvalidArgumentError(message)
    options = {**registration.spec.kwargs, **kwargs}
    try:
        env = factory(**options)
    except (TypeError, ValueError, LookupError, ArithmeticError) as error:
        raise InvalidArgumentError(f"{env_id} refuses its options: {printable(error)}") from error
    if not isinstance(env, Environment):
        raise EnvironmentLoadError(
            f"{_pointer(registration)}, which returns {printable(repr(env))} instead of an Environment"
        )
    for name, option in options.items():
        if not is_hashable(getattr(env, name, option)):
            raise InvalidArgumentError(
                f"{env_id}'s option {name!r} must be hashable, because it is static under jit: use a tuple, "
                f"got {option!r}"
            )
    return env


def _import_factory(registration: Registration) -> Callable[..., Environment[Any, Any]]:
    what = _pointer(registration)
    factory = import_entry_point(registration.spec.entry_point, what, EnvironmentLoadError)
    if not is_factory(factory):
        raise EnvironmentLoadError(f"{what}, which is neither a subclass of envcore.Environment nor a function")
    return factory


def _pointer(registration: Registration) -> str:
    return f"{registration.qualified_id} points at {registration.definition!r}"


def _option_names(factory: Callable[..., Environment[Any, Any]]) -> tuple[list[str], bool]:
    """The names of its options, and whether it takes any others (`**options`)."""
    if isinstance(factory, type):
        return [field.name for field in dataclasses.fields(factory) if field.init], False
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(factory).parameters.values()
    names = [each.name for each in parameters if each.kind in named]
    return names, any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters)


def _param_names(registration: Registration, factory: Callable[..., Environment[Any, Any]]) -> set[str]:
    from envcore.engine.arguments import param_names

    try:
        return set(param_names(factory(**registration.spec.kwargs).default_params))
    except Exception:  # it has options without a default: the error message goes without the hint
        return set()
