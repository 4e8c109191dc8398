"""The gauges of oxygen and divers, beside the original's."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import seaquest_original
from envcore_minatar.seaquest import Seaquest
from envcore_testing.compilation import quick_jit
from minatar import Environment
from seaquest_original import fields, set_fields

ENV = Seaquest(use_minimal_action_set=False)


def test_gauges() -> None:
    """All combinations of oxygen and divers, also counts below zero; the recordings have all values of each."""
    original = Environment("seaquest").env
    oxygens, counts = np.meshgrid(np.arange(-1, 201), np.arange(-12, 7))
    expected: list[np.ndarray] = []
    for oxygen, count in zip(oxygens.flat, counts.flat, strict=True):
        set_fields(original, {"oxygen": int(oxygen), "diver_count": int(count)})
        expected.append(original.state()[9])
    start = {name: jnp.asarray(value) for name, value in fields(original).items()}

    @quick_jit
    @jax.vmap
    def bottom(oxygen: jax.Array, count: jax.Array) -> jax.Array:
        return ENV.observe(
            seaquest_original.from_original({**start, "oxygen": oxygen, "diver_count": count}), ENV.default_params
        )[9]

    np.testing.assert_array_equal(bottom(jnp.asarray(oxygens.ravel()), jnp.asarray(counts.ravel())), expected)
