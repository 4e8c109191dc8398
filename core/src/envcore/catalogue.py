"""The environments of one process at one moment: found by a dict, sorted once, made on demand. Imports no JAX."""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import inspect
import re
import sys
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeGuard

from packaging.utils import canonicalize_name

from envcore.errors import EnvironmentLoadError, InvalidArgumentError
from envcore.plugins import import_entry_point
from envcore.specs import ENTRY_POINT, EnvSpec, is_hashable
from envcore.text import printable

if TYPE_CHECKING:
    from envcore.environment import Environment

_NUMBER = re.compile("[0-9]{2,}")
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclasses.dataclass(frozen=True)
class Registration:
    """A spec and its distribution.

    Attributes:
      distribution: canonical name of the distribution; `"local"` for what `envcore.register` added.
      spec: the announced spec.
      factory: the class or function that was registered itself; None where `spec.entry_point` has to be imported.
      is_announced: False for what `make` was given as `MODULE:CLASS`; the module stands for a distribution.
    """

    distribution: str
    spec: EnvSpec
    factory: Callable[..., Environment] | None = None
    is_announced: bool = True

    @property
    def qualified_id(self) -> str:
        """`"distribution:id"`, which `make` takes where several distributions share an id."""
        return f"{self.distribution}:{self.spec.id}"

    @property
    def definition(self) -> str:
        """`"module:name"` of the class or function, also of one inside a function, which nothing could import."""
        if self.factory is None:
            return self.spec.entry_point
        return f"{self.factory.__module__ or '__main__'}:{self.factory.__qualname__}"  # `exec` gives no module

    def construct(self, options: Mapping[str, Any]) -> Environment:
        """Makes the environment, as `envcore.make` does, without its params.

        Raises:
          EnvironmentLoadError: its entry point cannot be imported, or is neither a subclass of `Environment` nor a
            function that returns one.
          InvalidArgumentError: an option is unknown or refused.
        """
        factory = self.factory
        if factory is None:
            factory = import_entry_point(self.spec.entry_point, self._pointer, EnvironmentLoadError)
            if not is_factory(factory):
                raise EnvironmentLoadError(
                    f"{self._pointer}, which is neither a subclass of envcore.Environment nor a function"
                )
            if not self.is_announced and not _returns_environment(factory):  # a file may hold the name of any function
                raise EnvironmentLoadError(
                    f"{self._pointer}, a function that is not annotated to return an Environment"
                )
        from envcore.environment import Environment

        self._check_names(factory, options)
        options, env_id = {**self.spec.kwargs, **options}, self.spec.id
        try:
            env = factory(**options)
        except (TypeError, ValueError, LookupError, ArithmeticError) as error:
            raise InvalidArgumentError(f"{env_id} refuses its options: {printable(error)}") from error
        if not isinstance(env, Environment):
            raise EnvironmentLoadError(
                f"{self._pointer}, which returns {printable(repr(env))} instead of an Environment"
            )
        for name, option in options.items():
            if not is_hashable(getattr(env, name, option)):
                raise InvalidArgumentError(
                    f"{env_id}'s option {name!r} must be hashable, because it is static under jit: use a tuple, "
                    f"got {option!r}"
                )
        return env

    @property
    def _pointer(self) -> str:
        if not self.is_announced:
            name, module = self.spec.id, self.distribution
            return f"no distribution announces {self.definition!r}, so it is {name} of the module {module}"
        return f"{self.qualified_id} points at {self.definition!r}"

    def _check_names(self, factory: Callable[..., Environment], options: Mapping[str, Any]) -> None:
        if isinstance(factory, type):
            names, takes_any = [field.name for field in dataclasses.fields(factory) if field.init], False
        else:
            parameters = inspect.signature(factory).parameters.values()
            names = [each.name for each in parameters if each.kind in _NAMED]
            takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters)  # `**options`
        unknown = None if takes_any else min(set(options) - set(names), default=None)
        if unknown is None:
            return
        message = (
            f"{self.spec.id} got an unexpected keyword argument {unknown!r}; its options: {', '.join(names) or 'none'}."
        )
        if unknown in self._param_names(factory):
            message += (
                f" {unknown!r} is a parameter: params = params.replace({unknown}=...), "
                f"or --set {unknown}=... on the command line of envcore-cli."
            )
        raise InvalidArgumentError(message)

    def _param_names(self, factory: Callable[..., Environment]) -> tuple[str, ...]:
        from envcore.engine.arguments import param_names

        try:
            return param_names(factory(**self.spec.kwargs).default_params)
        except Exception:  # it has options without a default: the error message goes without the hint
            return ()


class Catalogue:
    """Looks registrations up by their ids, and lists them."""

    def __init__(self, registrations: Iterable[Registration]):
        self._by_id: dict[str, list[Registration]] = {}
        for each in registrations:
            self._by_id.setdefault(each.spec.id, []).append(each)
        for same in self._by_id.values():
            if len(same) > 1:
                same.sort(key=lambda each: each.distribution)

    @property
    def ids(self) -> Collection[str]:
        """All ids, in no particular order."""
        return self._by_id.keys()

    def find(self, env_id: str) -> list[Registration]:
        """Those that `"id"` or `"distribution:id"` stands for, in the order of distributions."""
        qualifier, colon, name = env_id.rpartition(":")
        found = self._by_id.get(name, [])
        return [each for each in found if each.distribution == canonicalize_name(qualifier)] if colon else found

    @functools.cached_property
    def entries(self) -> dict[str, Registration]:
        """All by what alone finds each, its id or `"distribution:id"`, in the natural order of ids."""
        in_order = sorted(self._by_id, key=lambda env_id: (_natural(env_id), env_id))
        return {
            each.qualified_id if len(self._by_id[env_id]) > 1 else env_id: each
            for env_id in in_order
            for each in self._by_id[env_id]
        }


def _natural(env_id: str) -> str:
    """A key by which "deep_sea/2" comes before "deep_sea/10": longer numbers are greater."""
    return _NUMBER.sub(_ordered_number, env_id.lower())


def _ordered_number(match: re.Match[str]) -> str:
    digits = match[0].lstrip("0") or "0"
    return digits if len(digits) == 1 else f":{len(digits):06}{digits}"  # ":" comes right after "9"


def of_module(name: str) -> Registration | None:
    """What `MODULE:CLASS` stands for, without importing it; None if there is no such module."""
    module, _, attribute = name.rpartition(":")
    top, *_ = module.split(".")
    if not ENTRY_POINT.fullmatch(name) or not (top in sys.modules or importlib.util.find_spec(top)):
        return None
    return Registration(module, EnvSpec(attribute, name), is_announced=False)


def is_factory(value: object) -> TypeGuard[Callable[..., Environment]]:
    """Whether the value can make environments: a subclass of `Environment`, or a function."""
    if not isinstance(value, type):
        return inspect.isfunction(value)
    from envcore.environment import Environment

    return issubclass(value, Environment)


def _returns_environment(factory: Callable[..., Environment]) -> bool:
    """Whether it is a class of environments, or a function whose annotation says that it returns one."""
    from envcore.environment import Environment

    if isinstance(factory, type):
        return True
    try:
        returned = typing.get_type_hints(factory).get("return")
    except Exception:  # an annotation that names what is imported for type checkers only
        return False
    return isinstance(returned, type) and issubclass(returned, Environment)
