from __future__ import annotations

import jax.numpy as jnp
import pytest
from envcore_testing.numerics import numerics


def test_the_defaults_are_jax_s_own_whatever_the_process_has_chosen() -> None:
    with numerics(x64=True, dtype_promotion="strict", rank_promotion="raise"), numerics():
        assert (jnp.int32(1) * jnp.ones((2, 1)) + jnp.ones(3)).dtype == jnp.float32


def test_each_switch() -> None:
    with numerics(x64=True):
        assert jnp.zeros(()).dtype == jnp.float64
    with numerics(dtype_promotion="strict"), pytest.raises(ValueError, match="promotion"):
        jnp.add(jnp.int32(1), jnp.float32(1))
    with numerics(rank_promotion="raise"), pytest.raises(ValueError, match="rank_promotion"):
        jnp.add(jnp.ones((2, 1)), jnp.ones(3))
