"""What `envcore.register` adds to the registry: environments of this process, whose class may be anywhere."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from envcore.catalogue import Registration
from envcore.errors import InvalidArgumentError
from envcore.making import is_factory
from envcore.specs import EnvSpec

if TYPE_CHECKING:
    from envcore.environment import Environment

LOCAL = "local"
"""Stands for a distribution's name in ids that were added by `register`."""


def registration(env_id: str, entry_point: str | Callable[..., Environment[Any, Any]], **fields: Any) -> Registration:
    """The registration that the arguments of `envcore.register` describe.

    Raises:
      InvalidArgumentError: a field is malformed, or the entry point is neither a class, a function nor a string.
    """
    if isinstance(entry_point, str):
        return Registration(LOCAL, EnvSpec(env_id, entry_point, **fields))
    if not is_factory(entry_point):
        is_class = isinstance(entry_point, type)
        got = f"the class {entry_point.__name__}" if is_class else f"an object of {type(entry_point).__name__}"
        raise InvalidArgumentError(
            "register takes a subclass of envcore.Environment, a function that returns an environment, or a string "
            f"'package.module:Class', got {got}"
        )
    return Registration(LOCAL, EnvSpec(env_id, _where(entry_point), **fields), entry_point)


def check_clash(new: Registration, known: Registration | None) -> None:
    """Checks that a registration may replace the one with the same id, if there is one.

    It may if it is the same again, or has a class or function that was itself registered and has the same name as
    before: so does a notebook's cell that is run again.

    Raises:
      InvalidArgumentError: it may not.
    """
    if known is None or new == known or (new.factory is not None and new.definition == known.definition):
        return
    message = f"{new.spec.id!r} is registered already, as {known.definition!r}"
    if new.definition == known.definition:
        names = [field.name for field in dataclasses.fields(EnvSpec)]
        other = [name for name in names if getattr(new.spec, name) != getattr(known.spec, name)]
        message += f" with another {' and '.join(other)}" if other else ", without the class or function itself"
    raise InvalidArgumentError(f"{message}: choose another id")


def _where(factory: Any) -> str:
    """What an `EnvSpec` says of a class or function that nothing has to import: `"__main__:Walk"`."""
    module = ".".join(map(_identifier, (factory.__module__ or "__main__").split(".")))
    return f"{module}:{_identifier(factory.__name__)}"


def _identifier(text: str) -> str:
    return re.sub(r"\W|^(?=\d)", "_", text) or "_"
