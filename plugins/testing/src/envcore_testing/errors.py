"""The error of the kit. Imports no JAX."""

from envcore.errors import EnvcoreError


class ConformanceError(EnvcoreError, AssertionError):
    """An environment breaks a rule of the contract."""
