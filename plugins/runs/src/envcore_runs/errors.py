"""Errors of runs. Imports nothing heavy."""

from __future__ import annotations

from envcore.errors import EnvcoreError


class ProcessError(EnvcoreError):
    """Another process of the same run cannot be reached, has ended, or got different arguments."""


class NotEnoughMemoryError(EnvcoreError, MemoryError):
    """The requested work does not fit into memory."""
