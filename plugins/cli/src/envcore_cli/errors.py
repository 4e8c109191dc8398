"""Errors of the command line. Imports nothing heavy."""

from __future__ import annotations

from envcore.errors import EnvcoreError


class CommandError(EnvcoreError):
    """A command is announced by several plugins, or cannot be imported."""


class OutputError(EnvcoreError):
    """What a command prints cannot be written: the disk is full, or standard output is closed."""


class NotEnoughMemoryError(EnvcoreError, MemoryError):
    """What was asked for does not fit into memory."""
