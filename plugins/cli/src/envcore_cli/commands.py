"""The commands of plugins: listed without importing them, imported when they are called."""

from __future__ import annotations

import collections
import dataclasses
import inspect
from collections.abc import Collection
from typing import Any

import typer
from envcore import registry
from envcore.plugins import import_entry_point
from envcore.specs import CommandSpec
from envcore.text import one_line, printable
from packaging.utils import canonicalize_name

from envcore_cli.errors import CommandError


@dataclasses.dataclass(frozen=True)
class PluginCommand:
    """A command and the distribution that announces it."""

    distribution: str
    spec: CommandSpec

    @property
    def qualified_name(self) -> str:
        """The unambiguous name, such as "envcore-viewer:render"."""
        return f"{self.distribution}:{self.spec.name}"


def plugin_commands(taken: Collection[str]) -> dict[str, PluginCommand]:
    """The announced commands by name; the name is qualified by the distribution if it is ambiguous.

    Args:
      taken: names of the command line's own commands, which plugins cannot replace.
    """
    found = _announced()
    counts = collections.Counter(each.spec.name for each in found)
    return {
        each.qualified_name if counts[each.spec.name] > 1 or each.spec.name in taken else each.spec.name: each
        for each in found
    }


def find(typed: str) -> PluginCommand | None:
    """The command that matches `"name"` or `"distribution:name"`; None if there is none.

    Raises:
      CommandError: several distributions announce the name.
    """
    qualifier, colon, name = typed.rpartition(":")
    found = [each for each in _announced() if each.spec.name == name]
    if colon:
        found = [each for each in found if each.distribution == canonicalize_name(qualifier)]
    if len(found) > 1:
        choices = " or ".join(f"`envcore {each.qualified_name}`" for each in found)
        raise CommandError(f"the command {name!r} is announced by several distributions: use {choices}.")
    return found[0] if found else None


def unknown(typed: str, known: Collection[str]) -> str:
    """The error message for an unknown command: a suggestion, what to install, and which plugins are not loaded."""
    from envcore import suggestions

    offered = suggestions.offered("commands")
    plugins = registry.plugins
    parts = [f"there is no command {typed!r}."]
    meant = next(iter(suggestions.nearest(typed, [*known, *offered])), typed)
    if meant != typed:
        parts.append(f"Did you mean {meant!r}?")
    owner = offered.get(meant)
    if owner and owner not in {plugin.distribution for plugin in plugins}:
        parts.append(f"{owner} provides it: pip install {owner}.")
    return printable(" ".join([*parts, *suggestions.left_out(plugins)]))


def load(command: PluginCommand) -> Any:
    """Imports a command and turns it into one of typer's.

    Raises:
      CommandError: it cannot be imported, or is neither an app with commands nor a function.
    """
    entry_point = command.spec.entry_point
    what = f"the command {command.qualified_name} points at {entry_point!r}"
    target = import_entry_point(entry_point, what, CommandError)
    app = target
    if inspect.isfunction(target):
        app = typer.Typer()
        app.command(command.spec.name)(target)
    if not isinstance(app, typer.Typer):
        raise CommandError(f"{what}, which is neither a typer.Typer nor a function")
    try:
        loaded = typer.main.get_command(app)
    except Exception as error:  # an app without commands, or parameters that typer cannot turn into options
        raise CommandError(f"{what}, which typer cannot turn into a command: {one_line(error)}") from error
    completion = ("install_completion", "show_completion")  # of the command line, not of its commands
    loaded.params = [each for each in loaded.params if each.name not in completion]
    return loaded


def _announced() -> list[PluginCommand]:
    """All announced commands, sorted by name and distribution."""
    found = [PluginCommand(each.distribution, spec) for each in registry.plugins for spec in each.commands]
    return sorted(found, key=lambda each: (each.spec.name, each.distribution))
