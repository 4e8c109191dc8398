"""JAX's default numerics, with which other libraries were written."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

import jax


@contextlib.contextmanager
def default_numerics() -> Generator[None]:
    """A context with 32 bits and ordinary promotion, whatever the user has set."""
    with jax.enable_x64(False), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield
