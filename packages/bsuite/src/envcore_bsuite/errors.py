"""Errors of bsuite's runner and analysis. Imports no JAX."""

from envcore.errors import EnvcoreError


class RunError(EnvcoreError):
    """A run of bsuite cannot be started or resumed as asked."""


class ResultsError(EnvcoreError, ValueError):
    """Logs or scores are missing or are not what they should be."""
