"""What `envcore.register` adds to the catalogue: rows of this process, whose class or function may be anywhere."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any

from envcore.catalogue import Registration
from envcore.errors import InvalidArgumentError
from envcore.making import is_factory
from envcore.specs import EnvSpec

if TYPE_CHECKING:
    from envcore.environment import Environment

LOCAL = "local"
"""Stands for a distribution's name in ids that were added by `register`."""


def rows(args: tuple[Any, ...], fields: dict[str, Any]) -> list[Registration]:
    """The rows that the arguments of `envcore.register` describe.

    Raises:
      InvalidArgumentError: they are not those of `register`, or a field is malformed.
    """
    specs = [each for each in args if isinstance(each, EnvSpec)]
    if len(specs) == len(args) and not fields:
        return [Registration(LOCAL, spec) for spec in specs]
    if specs:
        other = next((each for each in args if not isinstance(each, EnvSpec)), fields)
        raise InvalidArgumentError(f"register takes nothing beside EnvSpec objects, got {other!r}")
    try:
        inspect.signature(_row).bind(*args, **fields)
    except TypeError as error:
        message = f"register takes EnvSpec objects, or an id and a class or function: {error}"
        raise InvalidArgumentError(message) from None
    return [_row(*args, **fields)]


def check_clash(row: Registration, known: Registration | None) -> None:
    """Checks that a row may take the place of one with the same id, if there is one.

    It may if it is the same again, or has a class or function that was itself registered and has the same name as
    before: so does a notebook's cell that is run again.

    Raises:
      InvalidArgumentError: it may not.
    """
    if known is None or row == known or (row.factory is not None and row.definition == known.definition):
        return
    message = f"{row.spec.id!r} is registered already, as {known.definition!r}"
    if row.definition == known.definition:
        names = [field.name for field in dataclasses.fields(EnvSpec)]
        other = [name for name in names if getattr(row.spec, name) != getattr(known.spec, name)]
        message += f" with another {' and '.join(other)}" if other else ", without the class or function itself"
    raise InvalidArgumentError(f"{message}: choose another id")


def _row(
    id: str,  # noqa: A002
    entry_point: str | Callable[..., Environment[Any, Any]],
    *,
    kwargs: Mapping[str, Hashable] | None = None,
    summary: str = "",
    source: str = "",
    family: str = "",
) -> Registration:
    fields = ({} if kwargs is None else kwargs, summary, source, family)
    if isinstance(entry_point, str):
        return Registration(LOCAL, EnvSpec(id, entry_point, *fields))
    if not is_factory(entry_point):
        is_class = isinstance(entry_point, type)
        got = f"the class {entry_point.__name__}" if is_class else f"an object of {type(entry_point).__name__}"
        raise InvalidArgumentError(
            "register takes a subclass of envcore.Environment, a function that returns an environment, or a string "
            f"'package.module:Class', got {got}"
        )
    return Registration(LOCAL, EnvSpec(id, _where(entry_point), *fields), entry_point)


def _where(factory: Any) -> str:
    """What an `EnvSpec` says of a class or function that nothing has to import: `"__main__:Walk"`."""
    module = ".".join(map(_identifier, (factory.__module__ or "__main__").split(".")))
    return f"{module}:{_identifier(factory.__name__)}"


def _identifier(text: str) -> str:
    return re.sub(r"\W|^(?=\d)", "_", text) or "_"
