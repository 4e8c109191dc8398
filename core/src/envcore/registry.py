"""The catalogue: which environments are installed, and `make`.

Importing this module discovers nothing and imports no JAX. The first `make` or listing discovers the plugins,
once; `make` then imports the module of one environment.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from envcore.errors import (
    AmbiguousEnvironmentError,
    EnvironmentLoadError,
    EnvironmentOptionError,
    InvalidSpecError,
    UnknownEnvironmentError,
)
from envcore.plugins import PluginRecord, discover
from envcore.specs import EnvSpec

if TYPE_CHECKING:
    from envcore.environment import Environment

LOCAL = "local"
"""Stands for a distribution's name in ids that were added by `register`."""

_SUITES = {
    "minatar": "envcore-minatar",
    "bsuite": "envcore-bsuite",
    "misc": "envcore-misc",
    "v0": "envcore-classic-control",
    "v1": "envcore-classic-control",
}


@dataclasses.dataclass(frozen=True)
class Registration:
    """An environment of the catalogue: who announces it, and as what."""

    distribution: str
    spec: EnvSpec

    @property
    def qualified_id(self) -> str:
        """`"distribution:id"`, which `make` takes where two distributions share an id."""
        return f"{self.distribution}:{self.spec.id}"


class Registry:
    """All registrations of one process. `envcore.make` and its siblings use one shared instance."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._local: dict[str, EnvSpec] = {}
        self._plugins: tuple[PluginRecord, ...] | None = None

    def plugins(self) -> tuple[PluginRecord, ...]:
        """Every plugin found, also the broken and the disabled ones. The first call discovers."""
        with self._lock:
            if self._plugins is None:
                self._plugins = discover()
            return self._plugins

    def register(self, *specs: EnvSpec) -> None:
        """Adds environments to this process without a plugin, under the distribution name `"local"`.

        Raises:
          InvalidSpecError: an argument is no `EnvSpec`, or its id was registered before with another content.
        """
        for spec in specs:
            if not isinstance(spec, EnvSpec):
                raise InvalidSpecError(f"register takes EnvSpec objects, got {spec!r}")
            if self._local.get(spec.id, spec) != spec:
                raise InvalidSpecError(f"{spec.id!r} is registered already, as {self._local[spec.id].entry_point!r}")
        with self._lock:
            self._local.update({spec.id: spec for spec in specs})

    def registrations(self) -> tuple[Registration, ...]:
        """Every environment that can be made, in the order of ids, clashing ids with each of their distributions."""
        return tuple(sorted(self._all(), key=lambda found: (found.spec.id.lower(), found.distribution)))

    def find(self, env_id: str) -> Registration:
        """Looks up `"id"` or `"distribution:id"`.

        Raises:
          UnknownEnvironmentError: nothing is called so; the message names the nearest ids, the distribution to
            install and the plugins that are broken.
          AmbiguousEnvironmentError: two distributions announce the id.
        """
        if not isinstance(env_id, str):
            raise UnknownEnvironmentError(f"an environment's id is a string such as 'CartPole-v1', got {env_id!r}")
        distribution, _, name = env_id.rpartition(":")
        found = [
            each
            for each in self.registrations()
            if each.spec.id == name and (not distribution or each.distribution == distribution)
        ]
        if not found:
            raise UnknownEnvironmentError(self._unknown(env_id, name))
        if len(found) > 1:
            choices = " or ".join(f"make({each.qualified_id!r})" for each in found)
            raise AmbiguousEnvironmentError(f"{name!r} is announced by several distributions: use {choices}.")
        return found[0]

    def make(self, env_id: str, **kwargs: Any) -> tuple[Environment[Any, Any], Any]:
        """See `envcore.make`."""
        registration = self.find(env_id)
        env = _construct(registration, _import_class(registration), kwargs)
        return env, env.default_params

    def _all(self) -> Iterator[Registration]:
        yield from (Registration(LOCAL, spec) for spec in self._local.values())
        for plugin in self.plugins():
            yield from (Registration(plugin.distribution, spec) for spec in plugin.specs)

    def _unknown(self, env_id: str, name: str) -> str:
        ids = {each.spec.id.lower(): each.spec.id for each in self.registrations()}
        parts = [f"no installed environment is called {env_id!r}."]
        near = difflib.get_close_matches(name.lower(), ids, n=3, cutoff=0.6)
        if near:
            parts.append(f"Did you mean {' or '.join(repr(ids[each]) for each in near)}?")
        suffix = "bsuite" if name.startswith("bsuite/") else name.rpartition("-")[2].lower()
        suite = _SUITES.get(suffix)
        if suite and all(plugin.distribution != suite for plugin in self.plugins()):
            parts.append(f"Environments of this kind are in another distribution: pip install {suite}.")
        elif not ids:
            parts.append("No environments are installed at all: pip install 'envcore[all]'.")
        for plugin in self.plugins():
            if plugin.status == "broken":
                parts.append(f"Plugin {plugin.distribution} is broken and was left out: {plugin.error}.")
            elif plugin.status == "disabled":
                parts.append(f"Plugin {plugin.distribution} is disabled by ENVCORE_DISABLE_PLUGINS.")
        parts.append("`envcore list` shows what is installed.")
        return " ".join(parts)


def _import_class(registration: Registration) -> type[Environment[Any, Any]]:
    from envcore.environment import Environment

    module_name, _, class_name = registration.spec.entry_point.partition(":")
    try:
        env_class = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError) as error:
        raise EnvironmentLoadError(
            f"{registration.qualified_id} points at {registration.spec.entry_point!r}, which cannot be imported: {error}"
        ) from error
    if not (isinstance(env_class, type) and issubclass(env_class, Environment)):
        raise EnvironmentLoadError(
            f"{registration.qualified_id} points at {registration.spec.entry_point!r}, "
            "which is no subclass of envcore.Environment"
        )
    return env_class


def _construct(
    registration: Registration, env_class: type[Environment[Any, Any]], kwargs: dict[str, Any]
) -> Environment[Any, Any]:
    fields = [field.name for field in dataclasses.fields(env_class) if field.init]
    unknown = sorted(set(kwargs) - set(fields))
    if unknown:
        options = ", ".join(fields) or "none"
        message = f"{registration.spec.id} has no constructor option {unknown[0]!r}; its options: {options}."
        params = {field.name for field in dataclasses.fields(env_class().default_params)}
        if unknown[0] in params:
            message += f" {unknown[0]!r} is a parameter: params = params.replace({unknown[0]}=...)."
        raise EnvironmentOptionError(message)
    try:
        return env_class(**{**registration.spec.kwargs, **kwargs})
    except (TypeError, ValueError) as error:
        raise EnvironmentOptionError(f"{registration.spec.id} refuses its options: {error}") from error


_SHARED = Registry()


def make(env_id: str, **kwargs: Any) -> tuple[Environment[Any, Any], Any]:
    """Makes an installed environment.

    Args:
      env_id: `"CartPole-v1"`, or `"distribution:id"` where two distributions announce one id.
      **kwargs: the environment's constructor options (its static fields: grid size, action set, ...).

    Returns:
      The environment and its default parameters, the pair that `reset` and `step` need. Two environments made
      with equal options are equal and share one compilation.

    Raises:
      UnknownEnvironmentError: the id is not installed.
      AmbiguousEnvironmentError: several distributions announce the id.
      EnvironmentLoadError: the announced class cannot be imported.
      EnvironmentOptionError: an option is unknown or refused.
    """
    return _SHARED.make(env_id, **kwargs)


def register(*specs: EnvSpec) -> None:
    """Adds environments to this process without a plugin (in a notebook, say). See `Registry.register`."""
    _SHARED.register(*specs)


def find(env_id: str) -> Registration:
    """Looks an id up without importing its environment. See `Registry.find`."""
    return _SHARED.find(env_id)


def list_envs() -> tuple[Registration, ...]:
    """Every environment that can be made, in the order of ids."""
    return _SHARED.registrations()


def list_plugins() -> tuple[PluginRecord, ...]:
    """Every plugin that was found, also the broken and the disabled ones."""
    return _SHARED.plugins()
