"""The plugin is active in all tests of this workspace."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest


def test_mixed_dtypes_raise() -> None:
    with pytest.raises(ValueError, match="promotion"):
        jnp.add(jnp.int32(1), jnp.float32(1))


def test_mixed_ranks_raise() -> None:
    with pytest.raises(ValueError, match="rank_promotion"):
        jnp.add(jnp.ones((2, 1)), jnp.ones(1))


def test_there_are_two_cpu_devices() -> None:
    assert len(jax.devices("cpu")) == 2
