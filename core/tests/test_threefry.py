from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import threefry

KEY = jax.random.key(42)
WORDS = np.asarray(jax.random.key_data(KEY))


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3,), (2, 2), (5,)])
def test_words_are_those_of_jax(shape):
    found = threefry.words(WORDS, shape)
    np.testing.assert_array_equal(found, jax.random.bits(KEY, shape, jnp.uint32), strict=True)


@pytest.mark.parametrize("num", [0, 1, 2, 4, 5])
def test_keys_are_those_of_jax(num):
    found = threefry.keys(WORDS, num)
    np.testing.assert_array_equal(found, jax.random.key_data(jax.random.split(KEY, num)), strict=True)


def test_the_counters_of_a_block_go_on_where_others_end():
    high, low = threefry.counters((2, 2), np.uint32(3))
    np.testing.assert_array_equal((high, low), (np.zeros((2, 2)), [[3, 4], [5, 6]]))
