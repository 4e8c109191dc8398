"""Errors of the baselines. Imports no JAX."""

from envcore.errors import EnvcoreError


class ConfigError(EnvcoreError, ValueError):
    """Settings of an algorithm are invalid, or do not fit the environment."""
