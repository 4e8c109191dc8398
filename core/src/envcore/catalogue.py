"""The environments of one process at one moment: found by a dict, sorted once. Imports no JAX."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

from envcore.specs import EnvSpec

if TYPE_CHECKING:
    from envcore.environment import Environment

_NUMBER = re.compile("[0-9]{2,}")


@dataclasses.dataclass(frozen=True)
class Registration:
    """An environment of the catalogue: who announces it, and as what.

    Attributes:
      distribution: canonical name of the distribution; `"local"` for what `envcore.register` added.
      spec: the announced row.
      factory: the class or function that was registered itself; None where `spec.entry_point` has to be imported.
    """

    distribution: str
    spec: EnvSpec
    factory: Callable[..., Environment[Any, Any]] | None = None

    @property
    def qualified_id(self) -> str:
        """`"distribution:id"`, which `make` takes where two distributions share an id."""
        return f"{self.distribution}:{self.spec.id}"

    @property
    def definition(self) -> str:
        """`"module:name"` of the class or function, also of one inside a function, which nothing could import."""
        return self.spec.entry_point if self.factory is None else qualified_name(self.factory)


def qualified_name(factory: Any) -> str:
    """`"module:name"` of a class or function; what `exec` made has no module."""
    return f"{factory.__module__ or '__main__'}:{factory.__qualname__}"


class Catalogue:
    """Looks registrations up by id and by family."""

    def __init__(self, registrations: Iterable[Registration]):
        self._by_id: dict[str, list[Registration]] = {}
        for each in registrations:
            self._by_id.setdefault(each.spec.id, []).append(each)
        for twins in self._by_id.values():
            if len(twins) > 1:
                twins.sort(key=lambda each: each.distribution)

    @property
    def ids(self) -> Collection[str]:
        """All ids, in no particular order."""
        return self._by_id.keys()

    def named(self, env_id: str) -> list[Registration]:
        """Those with this id, in the order of distributions."""
        return self._by_id.get(env_id, [])

    @functools.cached_property
    def families(self) -> dict[str, tuple[Registration, ...]]:
        """The members of each family, in the order of ids; those without a family under the empty name."""
        families: dict[str, list[Registration]] = {"": []}
        for env_id in sorted(self._by_id, key=lambda env_id: (_natural(env_id), env_id)):
            for each in self._by_id[env_id]:
                families.setdefault(each.spec.family, []).append(each)
        return {name: tuple(families[name]) for name in sorted(families)}


def _natural(env_id: str) -> str:
    """A key by which "deep_sea/2" comes before "deep_sea/10": longer numbers are greater."""
    return _NUMBER.sub(_ordered_number, env_id.lower())


def _ordered_number(match: re.Match[str]) -> str:
    digits = match[0].lstrip("0") or "0"
    return digits if len(digits) == 1 else f":{len(digits):06}{digits}"  # ":" comes right after "9"
