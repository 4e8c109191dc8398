"""Errors of the command line. Imports nothing heavy."""

from __future__ import annotations

from envcore.errors import EnvcoreError


class CommandError(EnvcoreError):
    """A command is announced by several plugins, or cannot be imported."""


class Interrupted(BaseException):
    """A signal on its way to `main`: typer would turn a KeyboardInterrupt into a silent exit."""
