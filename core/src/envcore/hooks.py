"""The hooks that a plugin can implement. pluggy checks their names and signatures, and this module what they return."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

import pluggy

from envcore.errors import PluginError
from envcore.specs import CommandSpec, EnvSpec

Spec = TypeVar("Spec", EnvSpec, CommandSpec)

_MOST_ROWS = 10_000  # of one hook; bsuite, the largest so far, announces some 500 environments
_PLURALS = {EnvSpec: "environments; use options instead", CommandSpec: "commands"}

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


class Announced(NamedTuple):
    """What the hooks of one plugin return."""

    specs: tuple[EnvSpec, ...]
    commands: tuple[CommandSpec, ...]


def announced_by(module: object) -> Announced:
    """Calls the hooks of a plugin module.

    Raises:
      PluginError: it implements no hook, or a hook returns something other than rows, two rows of one
        name, or too many rows.
      pluggy.PluginValidationError: it implements a hook that this core does not know, or with another signature.
    """
    manager = pluggy.PluginManager("envcore")
    manager.add_hookspecs(EnvcoreHooks)
    manager.register(module)
    manager.check_pending()  # a hook that this core does not know
    hooks = manager.hook.envcore_env_specs, manager.hook.envcore_commands
    if not any(hook.get_hookimpls() for hook in hooks):
        names = " or ".join(f"{hook.name}()" for hook in hooks)
        raise PluginError(f"it has no function {names} that is marked with @envcore.plugins.hookimpl")
    environments, commands = hooks
    return Announced(
        tuple(_rows(environments, EnvSpec)),
        tuple(_rows(commands, CommandSpec)),
    )


def _rows(hook: Any, kind: type[Spec]) -> Iterator[Spec]:
    """The rows that the implementations of one hook return, in order; none without an implementation."""
    results: list[Any] = hook() or [None] * bool(hook.get_hookimpls())  # pluggy leaves a None out
    for rows in results:
        if not isinstance(rows, Iterable):
            raise PluginError(f"{hook.name}() returned {rows!r} instead of a list of {kind.__name__}")
    known: set[str] = set()
    for row, spec in enumerate(itertools.chain.from_iterable(results)):
        if row == _MOST_ROWS:
            raise PluginError(f"{hook.name}() announces more than {_MOST_ROWS:,} {_PLURALS[kind]}")
        if type(spec) is not kind:  # a subclass could skip the checks
            raise PluginError(f"row {row} of {hook.name}() is of type {type(spec).__name__}, not {kind.__name__}")
        name = spec.id if isinstance(spec, EnvSpec) else spec.name
        if name in known:
            raise PluginError(f"{hook.name}() announces {name!r} twice")
        known.add(name)
        yield spec
