"""The catalogue: which environments are installed, and `make`.

Importing this module discovers nothing and imports no JAX. The first `make` or listing discovers the plugins,
once; `make` then imports the module of one environment.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import inspect
import re
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from packaging.utils import canonicalize_name

from envcore.errors import (
    AmbiguousEnvironmentError,
    EnvironmentLoadError,
    EnvironmentOptionError,
    InvalidSpecError,
    PluginError,
    PluginWarning,
    UnknownEnvironmentError,
)
from envcore.plugins import PluginRecord, discover, one_line, problems
from envcore.specs import EnvSpec, is_hashable
from envcore.text import printable

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
        # Two locks: a thread may be importing a module that calls `register` while another one discovers it.
        self._register_lock = threading.Lock()
        self._discovery_lock = threading.RLock()
        self._discovering = False
        self._local: dict[str, EnvSpec] = {}
        self._plugins: tuple[PluginRecord, ...] | None = None

    def plugins(self) -> tuple[PluginRecord, ...]:
        """Every plugin found, also the broken and the disabled ones. The first call discovers.

        Warns:
          PluginWarning: in the first call, for each broken plugin and for a disabled name that no plugin has.

        Raises:
          PluginError: a plugin is broken and `ENVCORE_STRICT_PLUGINS=1`, or a plugin looks at the catalogue while it
            is being loaded.
        """
        with self._discovery_lock:
            if self._plugins is None:
                self._plugins = self._discover()
                # Warned of only now, so that a filter that turns warnings into errors does not lose the discovery.
                for problem in problems(self._plugins):
                    warnings.warn(problem, PluginWarning, stacklevel=_stacklevel_outside())
            return self._plugins

    def register(self, *specs: EnvSpec) -> None:
        """Adds environments to this process without a plugin, under the distribution name `"local"`: all or none.

        Raises:
          InvalidSpecError: an argument is no `EnvSpec`, or its id was registered before with another content.
        """
        with self._register_lock:
            local = dict(self._local)
            for spec in specs:
                if not isinstance(spec, EnvSpec):
                    raise InvalidSpecError(f"register takes EnvSpec objects, got {spec!r}")
                known = local.setdefault(spec.id, spec)
                if known != spec:
                    raise InvalidSpecError(f"{spec.id!r} is registered already, as {known.entry_point!r}")
            self._local = local  # a new dict, so that a reader in another thread is not disturbed

    def registrations(self, family: str = "") -> tuple[Registration, ...]:
        """The environments that belong to no family, or those of one family; see `list_envs`."""
        if family and family not in (families := self.families()):
            known = ", ".join(families) or "none"
            raise UnknownEnvironmentError(f"no family of environments is called {family!r}; there are: {known}.")
        return _in_order(each for each in self._everything() if each.spec.family == family)

    def families(self) -> tuple[str, ...]:
        """The families of environments, in alphabetical order."""
        return tuple(sorted({each.spec.family for each in self._everything() if each.spec.family}))

    def find(self, env_id: str) -> Registration:
        """Looks up `"id"` or `"distribution:id"`.

        Raises:
          UnknownEnvironmentError: nothing is called so; the message names the nearest ids, the distribution to
            install and the plugins that are left out.
          AmbiguousEnvironmentError: two distributions announce the id.
        """
        if not isinstance(env_id, str):
            raise UnknownEnvironmentError(f"an environment's id is a string such as 'CartPole-v1', got {env_id!r}")
        qualifier, colon, name = env_id.rpartition(":")
        found = _in_order(
            each
            for each in self._everything()
            if each.spec.id == name and (not colon or each.distribution == canonicalize_name(qualifier))
        )
        if not found:
            raise UnknownEnvironmentError(self._unknown(env_id))
        if len(found) != 1:
            choices = " or ".join(f"make({each.qualified_id!r})" for each in found)
            raise AmbiguousEnvironmentError(f"{name!r} is announced by several distributions: use {choices}.")
        return found[0]

    def make(self, env_id: str, **kwargs: Any) -> tuple[Environment[Any, Any], Any]:
        """See `envcore.make`."""
        registration = self.find(env_id)
        env = _construct(registration, _import_factory(registration), kwargs)
        return env, env.default_params

    def _discover(self) -> tuple[PluginRecord, ...]:
        if self._discovering:
            raise PluginError("a plugin may not make or list environments while it is being loaded")
        self._discovering = True
        try:
            return discover()
        finally:
            self._discovering = False

    def _everything(self) -> Iterator[Registration]:
        for plugin in self.plugins():
            yield from (Registration(plugin.distribution, spec) for spec in plugin.specs)
        yield from (Registration(LOCAL, spec) for spec in self._local.values())

    def _unknown(self, env_id: str) -> str:
        everything = _in_order(self._everything())
        qualifier, _, name = env_id.rpartition(":")
        parts = [f"no installed environment is called {env_id!r}."]
        ids = {each.spec.id.lower(): each.spec.id for each in everything}
        same = [each.qualified_id for each in everything if each.spec.id == name]
        near = same or [ids[each] for each in difflib.get_close_matches(name.lower(), ids, n=3, cutoff=0.6)]
        if near:
            parts.append(f"Did you mean {' or '.join(map(repr, near))}?")
        suite = _suite_of(name)
        installed = {plugin.distribution for plugin in self.plugins()}
        if suite and suite not in installed and qualifier in ("", suite):
            parts.append(f"If it is one of {suite}'s: pip install {suite}.")
        elif not installed and not everything:
            parts.append("No environments are installed at all: pip install 'envcore[all]'.")
        parts += [
            f"Plugin {plugin.distribution} is {plugin.status}: {plugin.error}."
            for plugin in self.plugins()
            if plugin.status != "loaded"
        ]
        parts.append("`envcore list` shows what is installed.")
        return printable(" ".join(parts))


def _in_order(registrations: Iterable[Registration]) -> tuple[Registration, ...]:
    return tuple(sorted(registrations, key=lambda each: (_natural(each.spec.id), each.spec.id, each.distribution)))


def _natural(env_id: str) -> list[str | int]:
    """A key by which "deep_sea/2" comes before "deep_sea/10"."""
    parts = re.split(r"([0-9]+)", env_id.lower())  # every second part is a number
    return [int(part) if place % 2 else part for place, part in enumerate(parts)]


def _stacklevel_outside() -> int:
    """The `stacklevel` with which the caller's warning points at the line outside envcore that led to it."""
    level, frame = 1, inspect.currentframe()
    frame = frame and frame.f_back
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] == "envcore":
        level, frame = level + 1, frame.f_back
    return level


def _suite_of(name: str) -> str | None:
    """The distribution of ours that has ids such as this one."""
    return "envcore-bsuite" if name.startswith("bsuite/") else _SUITES.get(name.rpartition("-")[2].lower())


def _import_factory(registration: Registration) -> Callable[..., Environment[Any, Any]]:
    from envcore.environment import Environment

    what = _pointer(registration)
    module_name, _, name = registration.spec.entry_point.partition(":")
    try:
        factory = getattr(importlib.import_module(module_name), name)
    except Exception as error:
        raise EnvironmentLoadError(f"{what}, which cannot be imported: {one_line(error)}") from error
    if not (inspect.isfunction(factory) or (isinstance(factory, type) and issubclass(factory, Environment))):
        raise EnvironmentLoadError(f"{what}, which is neither a subclass of envcore.Environment nor a function")
    return factory


def _construct(
    registration: Registration, factory: Callable[..., Environment[Any, Any]], kwargs: dict[str, Any]
) -> Environment[Any, Any]:
    from envcore.environment import Environment

    env_id = registration.spec.id
    names = _option_names(factory)
    unknown = sorted(set(kwargs) - set(names))
    if unknown:
        message = f"{env_id} has no constructor option {unknown[0]!r}; its options: {', '.join(names) or 'none'}."
        if unknown[0] in _param_names(registration, factory):
            message += f" {unknown[0]!r} is a parameter: params = params.replace({unknown[0]}=...)."
        raise EnvironmentOptionError(message)
    options = {**registration.spec.kwargs, **kwargs}
    try:
        env = factory(**options)
    except (TypeError, ValueError, LookupError) as error:
        raise EnvironmentOptionError(f"{env_id} refuses its options: {printable(error)}") from error
    if not isinstance(env, Environment):
        raise EnvironmentLoadError(
            f"{_pointer(registration)}, which returns {printable(repr(env))} in place of an Environment"
        )
    for name, option in options.items():
        if not is_hashable(getattr(env, name, option)):
            raise EnvironmentOptionError(
                f"{env_id}'s option {name!r} must be hashable, because it is static under jit: use a tuple, "
                f"got {option!r}"
            )
    return env


def _pointer(registration: Registration) -> str:
    return f"{registration.qualified_id} points at {registration.spec.entry_point!r}"


def _option_names(factory: Callable[..., Environment[Any, Any]]) -> list[str]:
    if isinstance(factory, type):
        return [field.name for field in dataclasses.fields(factory) if field.init]
    return list(inspect.signature(factory).parameters)


def _param_names(registration: Registration, factory: Callable[..., Environment[Any, Any]]) -> set[str]:
    from envcore.arguments import param_names

    try:
        return set(param_names(factory(**registration.spec.kwargs).default_params))
    except Exception:  # it has options without a default: the error message does without the hint
        return set()


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


def list_envs(family: str = "") -> tuple[Registration, ...]:
    """The environments that can be made, in the order of ids, clashing ids with each of their distributions.

    Args:
      family: one of `list_families()`, for its members; by default the environments that belong to no family.

    Raises:
      UnknownEnvironmentError: there is no such family.
    """
    return _SHARED.registrations(family)


def list_families() -> tuple[str, ...]:
    """The families of environments, such as `"bsuite/deep_sea"`, whose members `list_envs(family)` lists."""
    return _SHARED.families()


def list_plugins() -> tuple[PluginRecord, ...]:
    """Every plugin that was found, also the broken and the disabled ones."""
    return _SHARED.plugins()
