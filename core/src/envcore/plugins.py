"""Discovery of environment plugins.

A distribution announces its environments, commands, policies and algorithms through one entry point in the group
`envcore.plugins`. The entry point's value is a light module (no JAX, no environments imported) with one hook or more:

    from envcore.plugins import hookimpl
    from envcore.specs import AlgorithmSpec, CommandSpec, EnvSpec, NamedSpec, PolicySpec

    @hookimpl
    def envcore_env_specs():
        return [EnvSpec(id="Corridor-v0", entry_point="my_package.corridor:Corridor")]

    @hookimpl
    def envcore_commands():
        return [CommandSpec("walk", "Walk down a corridor.", "my_package.commands:walk")]

`envcore_policies` and `envcore_algorithms` return `PolicySpec` and `AlgorithmSpec` rows in the same way.

pluggy checks the hooks' names and signatures. The loading is our own: one broken plugin must not take another
down, and the order must not depend on `sys.path`. What a plugin prints while it is imported goes to standard error,
with its name; so does a line on one that takes long. See `envcore.watching`.

Four environment variables control it. They are read at the first discovery, the last one also at later imports:

    ENVCORE_DISABLE_PLUGINS=a,b   skip these distributions (or entry-point names), without importing them
    ENVCORE_PLUGIN_AUTOLOAD=0     skip all plugins; environments come from `envcore.register` alone
    ENVCORE_STRICT_PLUGINS=1      raise `PluginError` at the first broken plugin instead of warning
    ENVCORE_TRACE_PLUGINS=1       say on standard error what is imported, before it is: plugins and what they announce
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import itertools
import os
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import pluggy
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envcore.errors import EnvcoreError, PluginError
from envcore.installed import Copy, announcing, silent
from envcore.installing import CORE
from envcore.specs import AlgorithmSpec, CommandSpec, EnvSpec, NamedSpec, PolicySpec
from envcore.spelling import nearest
from envcore.text import one_line, printable
from envcore.version import __version__
from envcore.watching import notify, watched

GROUP = "envcore.plugins"
AUTOLOAD_OFF = "ENVCORE_PLUGIN_AUTOLOAD is off"
"""The `error` of plugins that are disabled all together."""
_MOST_ROWS = 10_000  # of one hook; bsuite, the largest so far, announces some 500 environments
_MOST_SECONDS = 60.0  # of the hooks of one plugin
_clock = time.monotonic

hookspec = pluggy.HookspecMarker("envcore")
hookimpl = pluggy.HookimplMarker("envcore")


class EnvcoreHooks:
    """The hooks that a plugin can implement. It implements at least one."""

    @hookspec
    def envcore_env_specs(self) -> Iterable[EnvSpec]:  # pyright: ignore[reportReturnType]
        """Returns the environments that this distribution brings, as `EnvSpec` rows."""

    @hookspec
    def envcore_commands(self) -> Iterable[CommandSpec]:  # pyright: ignore[reportReturnType]
        """Returns the commands that this distribution adds to `envcore`, as `CommandSpec` rows."""

    @hookspec
    def envcore_policies(self) -> Iterable[PolicySpec]:  # pyright: ignore[reportReturnType]
        """Returns the policies that this distribution brings, as `PolicySpec` rows."""

    @hookspec
    def envcore_algorithms(self) -> Iterable[AlgorithmSpec]:  # pyright: ignore[reportReturnType]
        """Returns the algorithms that this distribution brings, as `AlgorithmSpec` rows."""


_ROWS: dict[str, tuple[str, type[EnvSpec | NamedSpec]]] = {
    "envcore_env_specs": ("specs", EnvSpec),
    "envcore_commands": ("commands", CommandSpec),
    "envcore_policies": ("policies", PolicySpec),
    "envcore_algorithms": ("algorithms", AlgorithmSpec),
}
"""The hooks, each with the field of `PluginRecord` that has its rows, and their class."""


@dataclasses.dataclass(frozen=True)
class PluginRecord:
    """What discovery found of one entry point.

    Attributes:
      distribution: canonical name of the distribution, for example `"envcore-minatar"`.
      version: its version; `"?"` where it has none.
      name: name of the entry point; empty where it cannot be read.
      module: dotted path of the plugin module; empty where it cannot be read.
      status: `"loaded"`, `"disabled"` (by the user), `"broken"`, or `"unreadable"`: its `entry_points.txt` is
        damaged and does not name the group, so it is unknown whether the distribution has a plugin.
      specs: the announced environments; empty unless loaded.
      error: one line that says why it is left out; empty if it is loaded.
      commands: the announced commands of `envcore`; empty unless loaded, as are the next two.
      policies: the announced policies.
      algorithms: the announced algorithms.
      side_effects: what it changed in the process while it was imported, such as `"the working directory"`; it has been
        changed back.
    """

    distribution: str
    version: str
    name: str
    module: str
    status: Literal["loaded", "disabled", "broken", "unreadable"]
    specs: tuple[EnvSpec, ...] = ()
    error: str = ""
    commands: tuple[CommandSpec, ...] = ()
    policies: tuple[PolicySpec, ...] = ()
    algorithms: tuple[AlgorithmSpec, ...] = ()
    side_effects: tuple[str, ...] = ()

    @property
    def names(self) -> set[str]:
        """The names by which `ENVCORE_DISABLE_PLUGINS` skips it."""
        return {self.distribution, canonicalize_name(self.name)}

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"plugin {self.distribution} {self.version}" + (f" ({self.module})" if self.module else "")


def discover() -> tuple[PluginRecord, ...]:
    """Loads every installed plugin that is not disabled; returns a record of each, sorted by distribution.

    Raises:
      PluginError: a plugin is broken and `ENVCORE_STRICT_PLUGINS=1`.
      EnvcoreError: one of the other variables is neither on nor off.
    """
    autoload = _switch("ENVCORE_PLUGIN_AUTOLOAD", default=True)
    strict, traced = _switch("ENVCORE_STRICT_PLUGINS"), _switch("ENVCORE_TRACE_PLUGINS")
    disabled = _disabled_names()
    # None stands for the entry point of a distribution whose entry points cannot be read.
    installed = [(copy, entry_point) for copy in announcing(GROUP) for entry_point in copy.entry_points or (None,)]
    records: list[PluginRecord] = []
    for copy, entry_point in installed:
        name, module = ("", "") if entry_point is None else (entry_point.name, entry_point.value)
        record = PluginRecord(copy.name, copy.version, name, module, "loaded")
        if not autoload:
            record = dataclasses.replace(record, status="disabled", error=AUTOLOAD_OFF)
        elif disabled & record.names:
            record = dataclasses.replace(record, status="disabled", error="ENVCORE_DISABLE_PLUGINS names it")
        else:
            changed: list[str] = []
            try:
                _check_distribution(copy)
                if traced:
                    notify(f"importing {record.title}")
                disabled_by = f"ENVCORE_DISABLE_PLUGINS={record.distribution}"
                with watched(f"plugin {record.distribution}", changed, disabled_by):
                    announced = _announced_by(entry_point)
                record = dataclasses.replace(record, **announced)
            except PluginError as error:
                status = "broken" if copy.names_group else "unreadable"
                line = str(error) if error.__cause__ else one_line(error)  # with a cause, it is one line already
                record = dataclasses.replace(record, status=status, error=line)
                if strict and status == "broken":
                    message = f"plugin {record.distribution} is broken: {record.error}"
                    raise PluginError(message) from error.__cause__ or error
            record = dataclasses.replace(record, side_effects=tuple(changed))
        if autoload or copy.names_group:
            records.append(record)
    return tuple(records)


def _announced_by(entry_point: Any) -> dict[str, Any]:
    """Imports a plugin and calls its hooks; returns their rows by the field of `PluginRecord`."""
    module = entry_point.load()
    until = _clock() + _MOST_SECONDS
    manager = pluggy.PluginManager("envcore")
    manager.add_hookspecs(EnvcoreHooks)
    manager.register(module)
    hooks = {name: getattr(manager.hook, name) for name in _ROWS}
    is_announcing = any(hook.get_hookimpls() for hook in hooks.values())
    for name, function in inspect.getmembers(module, inspect.isfunction):
        _check_hook_name(name, is_marked=hasattr(function, "envcore_impl"), is_alone=not is_announcing)
    manager.check_pending()  # a hook that this core does not know
    if not is_announcing:
        names = " or ".join(f"{name}()" for name in hooks)
        raise PluginError(f"it has no function {names} that is marked with @envcore.plugins.hookimpl")
    return {field: tuple(_rows(hooks[name], kind, until)) for name, (field, kind) in _ROWS.items()}


def _check_hook_name(name: str, *, is_marked: bool, is_alone: bool) -> None:
    """Raises `PluginError` for a function of a plugin that looks like a hook and would not be called."""
    if name in _ROWS and not is_marked and not is_alone:
        raise PluginError(f"its {name}() is not marked with @envcore.plugins.hookimpl")
    prefix = "envcore_"
    if name.startswith(prefix) and name not in _ROWS:
        for similar in nearest(name.removeprefix(prefix), [each.removeprefix(prefix) for each in _ROWS]):
            raise PluginError(f"its {name}() is not a hook of envcore: did you mean {prefix}{similar}()?")


def announcing_nothing() -> Iterator[str]:
    """A sentence on each installed distribution that requires envcore and has no entry point for it.

    All metadata is read for this, which takes a tenth of a second.
    """
    for copy in silent(GROUP):
        if all(_core_versions(line) is None for line in copy.requires):
            continue
        if groups := nearest(GROUP, copy.groups):
            yield f"{copy.name} has an entry point in the group {groups[0]!r}, which must be {GROUP!r}."
        elif not copy.name.startswith(f"{CORE}-"):  # libraries around envcore, which are not suites, are named after it
            yield f"{copy.name} requires envcore, but announces nothing: it has no entry point in the group {GROUP!r}."


def _rows(hook: Any, kind: type[EnvSpec | NamedSpec], until: float) -> Iterator[EnvSpec | NamedSpec]:
    """The rows that one hook returns; none without an implementation."""
    results: list[Any] = hook() or [None] * bool(hook.get_hookimpls())  # pluggy leaves a None out
    for rows in results:
        if not isinstance(rows, Iterable):
            raise PluginError(f"{hook.name}() returned {rows!r} instead of a list of {kind.__name__}")
    known: set[str] = set()
    for row, spec in enumerate(itertools.chain.from_iterable(results)):
        if row == _MOST_ROWS:
            rows = "environments; use options instead" if kind is EnvSpec else _ROWS[hook.name][0]
            raise PluginError(f"{hook.name}() announces more than {_MOST_ROWS:,} {rows}")
        if _clock() > until:
            raise PluginError(
                f"{hook.name}() has announced {row:,} rows after {_MOST_SECONDS:g} s, and more would follow"
            )
        if type(spec) is not kind:  # a subclass could skip the checks
            raise PluginError(f"row {row} of {hook.name}() is of type {type(spec).__name__}, not {kind.__name__}")
        name = spec.id if isinstance(spec, EnvSpec) else spec.name
        if name in known:
            raise PluginError(f"{hook.name}() announces {name!r} twice")
        known.add(name)
        yield spec


def problems(records: Iterable[PluginRecord]) -> Iterator[str]:
    """Describes in one line each the broken plugins, those with side effects, and disabled names that match none."""
    unmatched = _disabled_names()
    for record in records:
        unmatched -= record.names
        if record.side_effects:
            yield printable(
                f"{record.title} changes {', '.join(record.side_effects)} while it is imported, which is undone. "
                f"Fix it, or set ENVCORE_DISABLE_PLUGINS={record.distribution}."
            )
        if record.status == "broken":
            yield printable(
                f"{record.title} is left out: {record.error}. "
                f"Fix or uninstall it, or set ENVCORE_DISABLE_PLUGINS={record.distribution}; "
                "ENVCORE_STRICT_PLUGINS=1 shows the whole traceback."
            )
    for name in sorted(unmatched):
        yield f"ENVCORE_DISABLE_PLUGINS names {name!r}, which matches no installed plugin."


def _switch(variable: str, default: bool = False) -> bool:
    value = os.environ.get(variable, "").strip().lower()
    if value in ("0", "false", "no", "off"):
        return False
    if value in ("1", "true", "yes", "on"):
        return True
    if value:
        raise EnvcoreError(f"the environment variable {variable} must be 0 or 1, got {os.environ[variable]!r}")
    return default


def _disabled_names() -> set[str]:
    names = os.environ.get("ENVCORE_DISABLE_PLUGINS", "").split(",")
    return {canonicalize_name(name.strip()) for name in names if name.strip()}


def _check_distribution(copy: Copy) -> None:
    if copy.damage is not None:
        raise PluginError(
            f"its entry_points.txt is damaged ({one_line(copy.damage)}); install it again"
        ) from copy.damage
    if copy.metadata is None:
        raise PluginError("its metadata is missing, unreadable or without a valid name; install it again")
    if len(copy.entry_points) > 1:
        raise PluginError(
            f"it has {len(copy.entry_points)} entry points in the group {GROUP}, where a distribution has one"
        )
    # pip can be forced to install a plugin beside an incompatible core: report that instead of an obscure failure.
    for line in copy.requires:
        wanted = _core_versions(line)
        if wanted is not None and not wanted.contains(__version__, prereleases=True):
            raise PluginError(f"it needs {CORE}{wanted}, but {CORE} {__version__} is installed")


def _core_versions(line: str) -> SpecifierSet | None:
    """The versions of envcore that a line of requirements allows; None if it is about another distribution."""
    try:
        requirement = Requirement(line)
    except InvalidRequirement:
        return None
    is_core = canonicalize_name(requirement.name) == CORE
    applies = is_core and (requirement.marker is None or requirement.marker.evaluate({"extra": ""}))
    return requirement.specifier if applies else None


def import_entry_point(entry_point: str, what: str, error_class: type[EnvcoreError]) -> Any:
    """Imports what a spec's "module:name" points at; raises `error_class`, whose message begins with `what`."""
    module, _, name = entry_point.partition(":")
    if _switch("ENVCORE_TRACE_PLUGINS"):
        notify(f"importing {entry_point}")
    if name in getattr(sys.modules.get(module), "__dict__", ()):  # fast, and its code has been run
        return getattr(importlib.import_module(module), name)
    changed: list[str] = []
    try:
        with watched(entry_point, changed):
            return getattr(importlib.import_module(module), name)
    except PluginError as error:
        raise error_class(f"{what}, which cannot be imported: {error}") from error.__cause__ or error
    finally:
        if changed:
            notify(f"{entry_point} changes {', '.join(changed)} while it is imported, which is undone")
