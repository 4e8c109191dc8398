"""Errors of the command line. Imports nothing heavy."""

from __future__ import annotations

from envcore.errors import EnvcoreError


class CommandError(EnvcoreError):
    """A command is announced by several plugins, or cannot be imported."""


class Interrupted(BaseException):
    """Passes a signal to `main`, because typer would turn a KeyboardInterrupt into a silent exit."""
