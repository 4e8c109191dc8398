"""Loads the commands of plugins. They are listed without an import, and imported when you call them."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from typing import Any

import typer
from envcore import registry, suggestions
from envcore.errors import one_line
from envcore.plugins import Announced
from envcore.specs import CommandSpec
from envcore.suggestions import how_to_install

from envcore_cli.errors import CommandError

_PROVIDERS = {
    **dict.fromkeys(("train", "evaluate", "bsuite"), "envcore-baselines"),
    **dict.fromkeys(("render", "play"), "envcore-viewer"),
    "check": "envcore-testing",
    "sweep": "envcore-ray",
}
"""The distributions that provide this project's commands, for installation advice."""


def unknown(typed: str, known: Collection[str]) -> str:
    """The error message for an unknown command, with a suggestion, what to install, and plugins that are not loaded."""
    parts = [f"there is no command {typed!r}."]
    meant = next(iter(suggestions.nearest(typed, [*known, *_PROVIDERS])), typed)
    if meant != typed:
        parts.append(f"Did you mean {meant!r}?")
    owner = _PROVIDERS.get(meant)
    if owner and owner not in {plugin.distribution for plugin in registry.plugins}:
        parts.append(f"{owner} provides it: {how_to_install(owner)}.")
    return " ".join([*parts, *suggestions.left_out(registry.plugins)])


def load(command: Announced[CommandSpec]) -> Any:
    """Imports a command and converts it to a typer command.

    Raises:
      CommandError: it cannot be imported, or is neither an app with commands nor a function.
    """
    target = app = command.load(CommandError)
    if inspect.isfunction(target):
        app = typer.Typer(rich_markup_mode=None)
        app.command(command.spec.name)(target)
    if not isinstance(app, typer.Typer):
        raise CommandError(f"{command.pointer}, which is neither a typer.Typer nor a function")
    try:
        loaded = typer.main.get_command(app)
    except Exception as error:  # an app without commands, or parameters that typer doesn't support
        raise CommandError(f"{command.pointer}, which typer cannot turn into a command: {one_line(error)}") from error
    completion = ("install_completion", "show_completion")  # only for the main command line
    loaded.params = [each for each in loaded.params if each.name not in completion]
    return loaded
