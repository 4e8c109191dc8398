"""The conformance kit's error. Does not import JAX."""

from envcore.errors import EnvcoreError


class ConformanceError(EnvcoreError, AssertionError):
    """An environment breaks a rule of the contract."""
