"""Discovery of environment plugins.

A distribution announces its environments through one entry point in the group `envcore.plugins`. The entry
point's value is a light module (no JAX, no environments imported) with one hook:

    from envcore.plugins import hookimpl
    from envcore.specs import EnvSpec

    @hookimpl
    def envcore_env_specs():
        return [EnvSpec(id="Corridor-v0", entry_point="my_package.corridor:Corridor")]

pluggy checks the hook's name and signature. The loading is our own: one broken plugin must not take another
down, and the order must not depend on `sys.path`.

Three environment variables steer it, read at the first discovery:

    ENVCORE_DISABLE_PLUGINS=a,b   leave these distributions (or entry-point names) out, before they are imported
    ENVCORE_PLUGIN_AUTOLOAD=0     leave all out; environments come from `envcore.register` alone
    ENVCORE_STRICT_PLUGINS=1      raise `PluginError` at the first broken plugin instead of warning
"""

from __future__ import annotations

import collections
import dataclasses
import os
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import importlib_metadata
import pluggy
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envcore.errors import EnvcoreError, InvalidSpecError, PluginError
from envcore.specs import EnvSpec
from envcore.text import printable
from envcore.version import __version__

GROUP = "envcore.plugins"
_HOOK = "envcore_env_specs"
_NAMELESS = "?"

hookspec = pluggy.HookspecMarker("envcore")
hookimpl = pluggy.HookimplMarker("envcore")


class EnvcoreHooks:
    """The hooks that a plugin can implement."""

    @hookspec
    def envcore_env_specs(self) -> Iterable[EnvSpec]:  # pyright: ignore[reportReturnType]
        """Returns the environments that this distribution brings, as `EnvSpec` rows."""


@dataclasses.dataclass(frozen=True)
class PluginRecord:
    """What discovery found of one entry point.

    Attributes:
      distribution: canonical name of the distribution, for example `"envcore-minatar"`.
      version: its version.
      name: name of the entry point.
      module: dotted path of the plugin module.
      status: `"loaded"`, `"disabled"` (by the user) or `"broken"`.
      specs: the announced environments; empty unless loaded.
      error: one line on why it is left out; empty where it is loaded.
    """

    distribution: str
    version: str
    name: str
    module: str
    status: Literal["loaded", "disabled", "broken"]
    specs: tuple[EnvSpec, ...] = ()
    error: str = ""


def discover() -> tuple[PluginRecord, ...]:
    """Loads every installed plugin that is not disabled; returns what came of each, in the order of distribution names.

    Raises:
      PluginError: a plugin is broken and `ENVCORE_STRICT_PLUGINS=1`.
      EnvcoreError: an environment variable that is a switch is neither on nor off.
    """
    autoload = _switch("ENVCORE_PLUGIN_AUTOLOAD", default=True)
    strict = _switch("ENVCORE_STRICT_PLUGINS", default=False)
    disabled = _disabled_names()
    entry_points = [(_describe(each), each) for each in importlib_metadata.entry_points(group=GROUP)]
    entry_points.sort(key=lambda found: (found[0].distribution, found[0].name, found[0].module))
    counts = collections.Counter(record.distribution for record, _ in entry_points)

    records: list[PluginRecord] = []
    for record, entry_point in entry_points:
        if not autoload:
            record = dataclasses.replace(record, status="disabled", error="ENVCORE_PLUGIN_AUTOLOAD is off")
        elif disabled & _names(record):
            record = dataclasses.replace(record, status="disabled", error="ENVCORE_DISABLE_PLUGINS names it")
        else:
            try:
                _check_distribution(record, entry_point, counts[record.distribution])
                record = dataclasses.replace(record, specs=_load_specs(entry_point))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # a plugin may call sys.exit, or raise what derives from no Exception
                record = dataclasses.replace(record, status="broken", error=one_line(error))
                if strict:
                    raise PluginError(f"plugin {record.distribution} is broken: {record.error}") from error
        records.append(record)
    return tuple(records)


def problems(records: Iterable[PluginRecord]) -> Iterator[str]:
    """Says in one line each which of the discovered plugins are broken, and which disabled names no plugin has."""
    strangers = _disabled_names()
    for record in records:
        strangers -= _names(record)
        if record.status == "broken":
            yield printable(
                f"plugin {record.distribution} {record.version} ({record.module}) is left out: {record.error}. "
                f"Fix or uninstall it, or set ENVCORE_DISABLE_PLUGINS={record.distribution}; "
                "ENVCORE_STRICT_PLUGINS=1 shows the whole traceback."
            )
    for name in sorted(strangers):
        yield f"ENVCORE_DISABLE_PLUGINS names {name!r}, but no installed plugin is called so."


def _switch(variable: str, default: bool) -> bool:
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


def _describe(entry_point: Any) -> PluginRecord:
    try:
        distribution, version = canonicalize_name(entry_point.dist.name), entry_point.dist.version or "?"
    except Exception:  # its metadata is missing, or has no name
        distribution, version = _NAMELESS, "?"
    return PluginRecord(distribution, version, entry_point.name, entry_point.value, "loaded")


def _names(record: PluginRecord) -> set[str]:
    return {record.distribution, canonicalize_name(record.name)}


def _check_distribution(record: PluginRecord, entry_point: Any, entry_points: int) -> None:
    if record.distribution == _NAMELESS:
        raise PluginError("the metadata of its distribution has no name; install it again")
    if entry_points > 1:
        raise PluginError(f"it has {entry_points} entry points in the group {GROUP}, where a distribution has one")
    # pip can be told to install a plugin beside a core that it does not fit; say so before an obscure failure.
    for line in entry_point.dist.requires or ():
        wanted = _core_versions(line)
        if wanted is not None and not wanted.contains(__version__, prereleases=True):
            raise PluginError(f"it needs envcore{wanted}, but envcore {__version__} is installed")


def _core_versions(line: str) -> SpecifierSet | None:
    """The versions of envcore that a line of requirements allows; None where it is about something else."""
    try:
        requirement = Requirement(line)
    except InvalidRequirement:
        return None
    is_core = canonicalize_name(requirement.name) == "envcore"
    applies = is_core and (requirement.marker is None or requirement.marker.evaluate({"extra": ""}))
    return requirement.specifier if applies else None


def _load_specs(entry_point: Any) -> tuple[EnvSpec, ...]:
    manager = pluggy.PluginManager("envcore")
    manager.add_hookspecs(EnvcoreHooks)
    manager.register(entry_point.load())
    manager.check_pending()  # a hook that this core does not know
    hook = manager.hook.envcore_env_specs
    if not hook.get_hookimpls():
        raise PluginError(f"it has no function {_HOOK}() that is marked with @envcore.plugins.hookimpl")
    results: list[Any] = hook() or [None]  # pluggy leaves a None out
    for rows in results:
        if not isinstance(rows, Iterable):
            raise PluginError(f"{_HOOK}() returned {rows!r} in place of a list of EnvSpec")
    specs = tuple(spec for rows in results for spec in rows)
    seen: set[str] = set()
    for row, spec in enumerate(specs):
        if type(spec) is not EnvSpec:  # a subclass could do without EnvSpec's own checks
            raise InvalidSpecError(f"row {row} of {_HOOK}() is of type {type(spec).__name__}, not EnvSpec")
        if spec.id in seen:
            raise InvalidSpecError(f"{_HOOK}() announces {spec.id!r} twice")
        seen.add(spec.id)
    return specs


def one_line(error: BaseException) -> str:
    """Tells an error in one line, with its class unless it is one of envcore's own."""
    try:
        message = printable(" ".join(str(error).split()))
    except Exception:
        message = "an error that cannot say what it is"
    kind = "" if isinstance(error, EnvcoreError) else type(error).__name__
    return ": ".join(part for part in (kind, message) if part)
