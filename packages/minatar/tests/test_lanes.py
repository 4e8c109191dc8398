"""Eight numbers in a word, compared with numpy."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore_minatar import packing

NUMBERS = np.random.default_rng(0).integers(0, 16, (500, 8)) * (np.random.default_rng(1).random((500, 8)) < 0.7)


def words() -> jax.Array:
    return packing.pack_lanes(list(jnp.asarray(NUMBERS.T, jnp.uint32)))


def test_every_lane_keeps_its_number() -> None:
    assert words().dtype == jnp.uint32
    np.testing.assert_array_equal(packing.unpack_lanes(words()), NUMBERS)


def test_no_lane_outside() -> None:
    for index in (-1, 8):
        assert not jax.vmap(lambda word, index=index: packing.lane(word, index))(words()).any()


def test_lanes_that_are_not_zero() -> None:
    np.testing.assert_array_equal(packing.unpack_lanes(packing.not_zero(words())), NUMBERS != 0)


def test_spread() -> None:
    flags = np.arange(256)
    expected = flags[:, None] >> np.arange(8) & 1
    np.testing.assert_array_equal(packing.unpack_lanes(packing.spread(jnp.asarray(flags, jnp.uint32))), expected)


def test_the_mask_of_flags() -> None:
    flags = np.random.default_rng(2).integers(0, 2, (50, 8))
    np.testing.assert_array_equal(packing.mask_of(jnp.asarray(flags, jnp.uint32)), flags @ 2 ** np.arange(8))
