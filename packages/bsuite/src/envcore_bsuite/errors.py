"""Errors of bsuite's analysis. Imports no JAX."""

from envcore.errors import EnvcoreError


class ResultsError(EnvcoreError, ValueError):
    """Logs or scores are missing or invalid."""
