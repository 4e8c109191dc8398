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
    ENVCORE_PLUGIN_AUTOLOAD=0     discover nothing; environments come from `envcore.register` alone
    ENVCORE_STRICT_PLUGINS=1      raise `PluginError` at the first broken plugin instead of warning
"""

from __future__ import annotations

import dataclasses
import os
import warnings
from collections.abc import Iterable
from types import ModuleType
from typing import Any, Literal

import importlib_metadata
import pluggy
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from envcore.errors import InvalidSpecError, PluginError, PluginWarning
from envcore.specs import EnvSpec

GROUP = "envcore.plugins"
_HOOK = "envcore_env_specs"

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
      error: one line on what is wrong; empty unless broken.
    """

    distribution: str
    version: str
    name: str
    module: str
    status: Literal["loaded", "disabled", "broken"]
    specs: tuple[EnvSpec, ...] = ()
    error: str = ""


def discover() -> tuple[PluginRecord, ...]:
    """Loads every installed plugin and records what came of each, in the order of distribution names.

    Warns:
      PluginWarning: once for each broken plugin, and for a disabled name that no plugin has.

    Raises:
      PluginError: a plugin is broken and `ENVCORE_STRICT_PLUGINS=1`.
    """
    if os.environ.get("ENVCORE_PLUGIN_AUTOLOAD", "1") == "0":
        return ()
    entry_points = sorted(
        importlib_metadata.entry_points(group=GROUP), key=lambda found: (_distribution(found)[0], found.name)
    )
    disabled = {canonicalize_name(name) for name in _names(os.environ.get("ENVCORE_DISABLE_PLUGINS", ""))}
    manager = pluggy.PluginManager("envcore")
    manager.add_hookspecs(EnvcoreHooks)

    records: list[PluginRecord] = []
    matched: set[str] = set()
    for entry_point in entry_points:
        distribution, version = _distribution(entry_point)
        record = PluginRecord(distribution, version, entry_point.name, entry_point.value, "loaded")
        names = {distribution, canonicalize_name(entry_point.name)}
        if names & disabled:
            matched |= names
            records.append(dataclasses.replace(record, status="disabled"))
            continue
        try:
            _check_core_requirement(entry_point)
            specs = _load_specs(manager, entry_point)
            records.append(dataclasses.replace(record, specs=specs))
        except (Exception, SystemExit) as error:
            message = _one_line(error)
            if os.environ.get("ENVCORE_STRICT_PLUGINS", "0") == "1":
                raise PluginError(f"plugin {distribution} {version} is broken: {message}") from error
            records.append(dataclasses.replace(record, status="broken", error=message))
            warnings.warn(
                f"plugin {distribution} {version} is left out: {message}. Fix or uninstall it, or set "
                f"ENVCORE_DISABLE_PLUGINS={distribution}; ENVCORE_STRICT_PLUGINS=1 shows the whole traceback.",
                PluginWarning,
                stacklevel=2,
            )
    for name in sorted(disabled - matched):
        warnings.warn(
            f"ENVCORE_DISABLE_PLUGINS names {name!r}, but no installed plugin is called so.",
            PluginWarning,
            stacklevel=2,
        )
    return tuple(records)


def _load_specs(manager: pluggy.PluginManager, entry_point: Any) -> tuple[EnvSpec, ...]:
    plugin: ModuleType = entry_point.load()
    manager.register(plugin, name=f"{_distribution(entry_point)[0]}:{entry_point.name}")
    try:
        manager.check_pending()  # a hook that this core does not know
        others = [other for other in manager.get_plugins() if other is not plugin]
        results = manager.subset_hook_caller(_HOOK, remove_plugins=others)()
    except BaseException:
        manager.unregister(plugin)
        raise
    if not results:
        raise PluginError(f"module {entry_point.value} returns nothing from an @hookimpl function {_HOOK}()")
    specs = tuple(results[0])
    seen: set[str] = set()
    for row, spec in enumerate(specs):
        if not isinstance(spec, EnvSpec):
            raise InvalidSpecError(f"row {row} of {_HOOK}() is {spec!r}, not an EnvSpec")
        if spec.id in seen:
            raise InvalidSpecError(f"{_HOOK}() announces {spec.id!r} twice")
        seen.add(spec.id)
    return specs


def _check_core_requirement(entry_point: Any) -> None:
    """pip can be told to install a plugin beside a core that it does not fit; say so before an obscure failure."""
    installed = importlib_metadata.version("envcore")
    for line in (entry_point.dist.requires or ()) if entry_point.dist else ():
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        is_core = canonicalize_name(requirement.name) == "envcore"
        applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if is_core and applies and not requirement.specifier.contains(installed, prereleases=True):
            raise PluginError(f"it needs envcore{requirement.specifier}, but envcore {installed} is installed")


def _distribution(entry_point: Any) -> tuple[str, str]:
    if entry_point.dist is None:
        return "unknown", "0"
    return canonicalize_name(entry_point.dist.name), entry_point.dist.version


def _names(text: str) -> list[str]:
    return [name for name in (part.strip() for part in text.split(",")) if name]


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
