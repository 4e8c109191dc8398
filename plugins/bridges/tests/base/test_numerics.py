from __future__ import annotations

import jax.numpy as jnp
from envcore_bridges.base.numerics import default_numerics
from envcore_testing.numerics import numerics as switched


def test_the_switches_of_the_process_do_not_matter() -> None:
    with switched(x64=True, dtype_promotion="strict", rank_promotion="raise"), default_numerics():
        assert (jnp.int32(1) * jnp.ones((2, 1)) + jnp.ones(3)).dtype == jnp.float32
