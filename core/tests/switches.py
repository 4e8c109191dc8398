"""Options of `jax.config`, set for the duration of a test."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import Any

import jax


@contextlib.contextmanager
def switched(**switches: Any) -> Generator[None]:
    """Sets `jax.config` options, and restores their old values afterwards."""
    before = {name: getattr(jax.config, name) for name in switches}
    try:
        for name, value in switches.items():
            jax.config.update(name, value)
        yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
