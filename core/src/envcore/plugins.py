"""Plugins: distributions that announce environments, commands, policies and algorithms.

A plugin has one entry point in the group `envcore.plugins`. It names a light module, one that doesn't import JAX or the
environments, with one or more hooks:

    from envcore.plugins import hookimpl
    from envcore.specs import EnvSpec

    @hookimpl
    def envcore_env_specs():
        return [EnvSpec(id="Corridor-v0", entry_point="my_package.corridor:Corridor")]

The hooks `envcore_commands`, `envcore_policies` and `envcore_algorithms` return `CommandSpec`, `PolicySpec` and
`AlgorithmSpec` rows in the same way.

pluggy checks the names and signatures of hooks. envcore loads the plugins itself, so that one broken plugin doesn't
affect others and the order doesn't depend on `sys.path`. Two environment variables are read at the first discovery:

    ENVCORE_DISABLE_PLUGINS=a,b   skip these distributions or entry-point names, without importing them
    ENVCORE_STRICT_PLUGINS=1      raise `PluginError` at the first broken plugin instead of warning
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import importlib_metadata
import pluggy
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from envcore.errors import EnvcoreError, PluginError, one_line
from envcore.specs import AlgorithmSpec, CommandSpec, EnvSpec, NamedSpec, PolicySpec
from envcore.suggestions import CORE
from envcore.version import __version__

GROUP = "envcore.plugins"
Spec: TypeAlias = EnvSpec | NamedSpec

hookspec = pluggy.HookspecMarker("envcore")
hookimpl = pluggy.HookimplMarker("envcore")


class EnvcoreHooks:
    """The hooks that a plugin can implement. It must implement at least one."""

    @hookspec
    def envcore_env_specs(self) -> Iterable[EnvSpec]:  # pyright: ignore[reportReturnType]
        """Returns the environments of this distribution, as `EnvSpec` rows."""

    @hookspec
    def envcore_commands(self) -> Iterable[CommandSpec]:  # pyright: ignore[reportReturnType]
        """Returns the subcommands of `envcore` that this distribution adds, as `CommandSpec` rows."""

    @hookspec
    def envcore_policies(self) -> Iterable[PolicySpec]:  # pyright: ignore[reportReturnType]
        """Returns the policies of this distribution, as `PolicySpec` rows."""

    @hookspec
    def envcore_algorithms(self) -> Iterable[AlgorithmSpec]:  # pyright: ignore[reportReturnType]
        """Returns the algorithms of this distribution, as `AlgorithmSpec` rows."""


_ROWS: dict[str, type[Spec]] = {
    "envcore_env_specs": EnvSpec,
    "envcore_commands": CommandSpec,
    "envcore_policies": PolicySpec,
    "envcore_algorithms": AlgorithmSpec,
}


@dataclasses.dataclass(frozen=True)
class PluginRecord:
    """The result of loading one plugin.

    Attributes:
      distribution: canonical name, for example `"envcore-minatar"`.
      version: the distribution's version, or `"?"` if its metadata cannot be read.
      name: name of the entry point, or empty if it cannot be read.
      module: dotted path of the plugin module, or empty if it cannot be read.
      status: `"loaded"`, `"disabled"` (by you) or `"broken"`.
      specs: the announced specs of all kinds. Empty unless loaded.
      error: one line on why the plugin is left out. Empty if it is loaded.
    """

    distribution: str
    version: str
    name: str
    module: str
    status: Literal["loaded", "disabled", "broken"]
    specs: tuple[Spec, ...] = ()
    error: str = ""


def discover() -> tuple[PluginRecord, ...]:
    """Loads all installed plugins that are not disabled, and returns their records, sorted by distribution.

    Raises:
      PluginError: a plugin is broken and `ENVCORE_STRICT_PLUGINS=1`.
    """
    records = list[PluginRecord]()
    disabled = {canonicalize_name(each.strip()) for each in os.environ.get("ENVCORE_DISABLE_PLUGINS", "").split(",")}
    for name, distribution in sorted(_installed().items()):
        if not _names_group(distribution):
            continue
        record = PluginRecord(name, "?", "", "", "loaded")
        try:
            record = dataclasses.replace(record, version=distribution.version or "?")
            entry_point = _entry_point(distribution)
            record = dataclasses.replace(record, name=entry_point.name, module=entry_point.value)
            if disabled & {name, canonicalize_name(entry_point.name)}:
                error = "it is listed in ENVCORE_DISABLE_PLUGINS"
                record = dataclasses.replace(record, status="disabled", error=error)
            else:
                _check_core_version(distribution)
                record = dataclasses.replace(record, specs=tuple(_announced_by(entry_point.load())))
        except (Exception, SystemExit) as error:
            record = dataclasses.replace(record, status="broken", error=one_line(error))
            if os.environ.get("ENVCORE_STRICT_PLUGINS") == "1":
                raise PluginError(f"plugin {name} is broken: {record.error}") from error
        records.append(record)
    return tuple(records)


def _installed() -> dict[str, Any]:
    """Returns distributions by canonical name. The first copy on `sys.path` wins, as for imports."""
    found: dict[str, Any] = {}
    for distribution in importlib_metadata.distributions():
        try:
            # importlib_metadata takes this name from the folder's name. Other ways would read hundreds of files.
            name = canonicalize_name(distribution._normalized_name)  # pyright: ignore[reportAttributeAccessIssue]
        except Exception:  # neither the folder nor the metadata has a name
            continue
        if re.match("[a-z0-9]", name):  # pip renames distributions that it is removing to "~..."
            found.setdefault(name, distribution)
    return found


def _names_group(distribution: Any) -> bool:
    """Whether the distribution's entry points mention our group, even if the file is damaged."""
    try:
        return f"[{GROUP}]" in (distribution.read_text("entry_points.txt") or "")
    except (OSError, UnicodeDecodeError):  # can't tell whether it is one of our plugins
        return False


def _entry_point(distribution: Any) -> Any:
    found = [each for each in distribution.entry_points if each.group == GROUP]
    if len(found) != 1:
        raise PluginError(f"it has {len(found)} entry points in the group {GROUP}, but must have exactly one")
    return found[0]


def _check_core_version(distribution: Any) -> None:
    """Reports a core version that the plugin doesn't support, which a forced pip install can cause."""
    for line in distribution.requires or ():
        wanted = Requirement(line)
        if canonicalize_name(wanted.name) != CORE or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        if not wanted.specifier.contains(__version__, prereleases=True):
            raise PluginError(f"it needs {CORE}{wanted.specifier}, but {CORE} {__version__} is installed")


def _announced_by(module: Any) -> Iterator[Spec]:
    """Yields the specs that a plugin's hooks return."""
    manager = pluggy.PluginManager("envcore")
    manager.add_hookspecs(EnvcoreHooks)
    manager.register(module)
    hooks = {name: getattr(manager.hook, name) for name in _ROWS}
    manager.check_pending()  # raises for unknown hooks
    if not any(hook.get_hookimpls() for hook in hooks.values()):
        names = " or ".join(f"{name}()" for name in hooks)
        raise PluginError(f"it has no function {names} marked with @envcore.plugins.hookimpl")
    for name, kind in _ROWS.items():
        known: set[str] = set()
        for rows in hooks[name]() or [None] * bool(hooks[name].get_hookimpls()):  # pluggy drops None results
            if not isinstance(rows, Iterable):
                raise PluginError(f"{name}() returned {rows!r} instead of a list of {kind.__name__}")
            for spec in rows:
                if not isinstance(spec, kind):
                    raise PluginError(f"{name}() returned a {type(spec).__name__}, not a {kind.__name__}: {spec!r}")
                if spec.name in known:
                    raise PluginError(f"{name}() announces {spec.name!r} twice")
                known.add(spec.name)
                yield spec


S_co = TypeVar("S_co", bound=Spec, covariant=True)
A = TypeVar("A", bound="Announced[Any]")


@dataclasses.dataclass(frozen=True)
class Announced(Generic[S_co]):
    """A spec with the distribution that announces it.

    Attributes:
      distribution: canonical name of the distribution, or `"local"` for `envcore.register`.
      spec: the announced spec.
    """

    distribution: str
    spec: S_co

    @property
    def qualified_name(self) -> str:
        """`"distribution:name"`, which is unique even if several distributions announce the name."""
        return f"{self.distribution}:{self.spec.name}"

    @property
    def pointer(self) -> str:
        """The beginning of errors about the entry point."""
        return f"the {self.spec.kind} {self.qualified_name} points at {self.spec.entry_point!r}"

    def load(self, error_class: type[EnvcoreError]) -> Any:
        """Imports the object of the entry point. Raises `error_class` if that fails."""
        module, _, name = self.spec.entry_point.partition(":")
        try:
            return getattr(importlib.import_module(module), name)
        except (Exception, SystemExit) as error:
            raise error_class(f"{self.pointer}, which cannot be imported: {one_line(error)}") from error


class Catalogue(Mapping[str, A]):
    """Announced specs of one kind, in natural order: by name, or by `"distribution:name"` if names clash."""

    def __init__(self, rows: Iterable[A]):
        self._by_name: dict[str, list[A]] = {}
        for each in sorted(rows, key=lambda each: each.distribution):
            self._by_name.setdefault(each.spec.name, []).append(each)

    def matching(self, typed: str) -> list[A]:
        """Returns all matches for `"name"` or `"distribution:name"`, sorted by distribution."""
        qualifier, colon, name = typed.rpartition(":")
        found = self._by_name.get(name, [])
        return [each for each in found if each.distribution == canonicalize_name(qualifier)] if colon else found

    def find(self, typed: str, error_class: type[EnvcoreError]) -> A | None:
        """Returns the match for `"name"` or `"distribution:name"`, or None.

        Raises:
          error_class: several distributions announce the name.
        """
        found = self.matching(typed)
        if len(found) > 1:
            choices = " or ".join(repr(each.qualified_name) for each in found)
            raise error_class(
                f"the {found[0].spec.kind} {typed!r} is announced by several distributions: use {choices}."
            )
        return found[0] if found else None

    @functools.cached_property
    def _entries(self) -> dict[str, A]:
        return {
            name if len(found) == 1 else each.qualified_name: each
            for name, found in sorted(self._by_name.items(), key=lambda item: (_natural(item[0]), item[0]))
            for each in found
        }

    def __getitem__(self, name: str) -> A:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _natural(name: str) -> list[str | int]:
    """Sort key that puts "deep_sea/2" before "deep_sea/10"."""
    return [int(part) if part.isdecimal() else part for part in re.split("([0-9]+)", name.lower())]
