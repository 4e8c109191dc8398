"""The environments of one process at one moment: found by a dict, sorted once. Imports no JAX."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

from packaging.utils import canonicalize_name

from envcore.specs import EnvSpec

if TYPE_CHECKING:
    from envcore.environment import Environment

_NUMBER = re.compile("[0-9]{2,}")


@dataclasses.dataclass(frozen=True)
class Registration:
    """A spec and its distribution.

    Attributes:
      distribution: canonical name of the distribution; `"local"` for what `envcore.register` added.
      spec: the announced spec.
      factory: the class or function that was registered itself; None where `spec.entry_point` has to be imported.
    """

    distribution: str
    spec: EnvSpec
    factory: Callable[..., Environment[Any, Any]] | None = None

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
