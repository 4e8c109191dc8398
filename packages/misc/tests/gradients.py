"""Compares gradients with finite differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def check_finite_differences(
    ours: Callable[[dict[str, jax.Array]], jax.Array],
    original: Callable[[dict[str, np.ndarray]], Any],
    inputs: Mapping[str, np.ndarray],
) -> None:
    """Compares our float32 gradients with finite differences of the original in float64, for every input number.

    Raises:
      AssertionError: they differ by more than a relative 1e-4 plus an absolute 1e-5.
    """
    gradients = jax.jit(jax.grad(ours))({name: jnp.asarray(x, jnp.float32) for name, x in inputs.items()})
    for name, value in inputs.items():
        for index in np.ndindex(value.shape):
            ends: list[Any] = []
            for sign in (1, -1):
                moved = value.copy()
                moved[index] += sign * 1e-6
                ends.append(original({**inputs, name: moved}))
            np.testing.assert_allclose(gradients[name][index], (ends[0] - ends[1]) / 2e-6, rtol=1e-4, atol=1e-5)
