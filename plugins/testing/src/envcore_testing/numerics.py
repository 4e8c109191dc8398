"""Set JAX's numeric options temporarily."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import Literal

import jax


@contextlib.contextmanager
def numerics(
    *,
    x64: bool = False,
    dtype_promotion: Literal["standard", "strict"] = "standard",
    rank_promotion: Literal["allow", "raise"] = "allow",
) -> Generator[None]:
    """Context manager that sets JAX's numeric options to the arguments, or to JAX's defaults."""
    with (
        jax.enable_x64(x64),
        jax.numpy_dtype_promotion(dtype_promotion),
        jax.numpy_rank_promotion(rank_promotion),
    ):
        yield
