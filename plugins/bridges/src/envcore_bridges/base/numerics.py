"""JAX's default numerics, with which other libraries were written."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

import jax

if hasattr(jax, "enable_x64"):
    from jax import enable_x64
else:  # its place in older JAX
    from jax.experimental import enable_x64  # pyright: ignore[reportAttributeAccessIssue]


@contextlib.contextmanager
def default_numerics() -> Generator[None]:
    """A context with 32 bits and ordinary promotion, whatever the user has set."""
    with enable_x64(False), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield
