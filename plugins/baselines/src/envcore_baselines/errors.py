"""Errors of the baselines. Imports no JAX."""

from envcore.errors import EnvcoreError


class ConfigError(EnvcoreError, ValueError):
    """An algorithm's settings are invalid or do not fit the environment."""
