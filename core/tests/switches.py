"""JAX's switches, for the length of a test."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import Any

import jax


@contextlib.contextmanager
def switched(**switches: Any) -> Generator[None]:
    """Sets `jax.config` switches and puts the old values back."""
    before = {name: getattr(jax.config, name) for name in switches}
    try:
        for name, value in switches.items():
            jax.config.update(name, value)
        yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
