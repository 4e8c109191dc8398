"""The commands, policies and algorithms of plugins: listed without importing them, found by name. Imports no JAX."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Collection
from typing import Any, Generic, TypeVar

from packaging.utils import canonicalize_name

from envcore.errors import EnvcoreError
from envcore.plugins import import_entry_point
from envcore.registration import registry
from envcore.specs import NamedSpec

_Spec = TypeVar("_Spec", bound=NamedSpec)


@dataclasses.dataclass(frozen=True)
class Announced(Generic[_Spec]):
    """What a distribution announces by a name.

    Attributes:
      distribution: canonical name of the distribution.
      spec: the announced spec.
    """

    distribution: str
    spec: _Spec

    @property
    def qualified_name(self) -> str:
        """The unambiguous name, such as `"envcore-viewer:render"`."""
        return f"{self.distribution}:{self.spec.name}"

    @property
    def pointer(self) -> str:
        """How errors about what it points at begin."""
        return f"the {self.spec.kind} {self.qualified_name} points at {self.spec.entry_point!r}"

    def load(self, error_class: type[EnvcoreError]) -> Any:
        """Imports what the entry point names; raises `error_class` if that fails."""
        return import_entry_point(self.spec.entry_point, self.pointer, error_class)


def by_name(kind: type[_Spec], taken: Collection[str] = ()) -> dict[str, Announced[_Spec]]:
    """All of one kind by name, sorted; the name is qualified by the distribution if it is ambiguous.

    Args:
      kind: the class of the specs.
      taken: names that plugins cannot replace.
    """
    found = _all(kind)
    counts = collections.Counter(each.spec.name for each in found)
    return {
        each.qualified_name if counts[each.spec.name] > 1 or each.spec.name in taken else each.spec.name: each
        for each in found
    }


def find(kind: type[_Spec], typed: str, error_class: type[EnvcoreError]) -> Announced[_Spec] | None:
    """What matches `"name"` or `"distribution:name"`; None if nothing does.

    Raises:
      whatever `error_class` is: several distributions announce the name.
    """
    qualifier, colon, name = typed.rpartition(":")
    found = [each for each in _all(kind) if each.spec.name == name]
    if colon:
        found = [each for each in found if each.distribution == canonicalize_name(qualifier)]
    if len(found) > 1:
        choices = " or ".join(repr(each.qualified_name) for each in found)
        raise error_class(f"the {kind.kind} {name!r} is announced by several distributions: use {choices}.")
    return found[0] if found else None


def _all(kind: type[_Spec]) -> list[Announced[_Spec]]:
    """Sorted by name and distribution."""
    rows: list[tuple[str, NamedSpec]] = [
        (plugin.distribution, spec)
        for plugin in registry.plugins
        for spec in (*plugin.commands, *plugin.policies, *plugin.algorithms)
    ]
    found = [Announced(distribution, spec) for distribution, spec in rows if isinstance(spec, kind)]
    return sorted(found, key=lambda each: (each.spec.name, each.distribution))
