from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from envcore_bsuite import bits

SIZES = [0, 1, 31, 32, 33, 64, 70]


def random_bits(number: int) -> tuple[np.ndarray, jnp.ndarray]:
    """`number` bits, and words that hold them, followed by other bits."""
    drawn = np.random.default_rng(number).integers(0, 2, 96)
    words = np.packbits(drawn.astype(np.uint8), bitorder="little").view(np.uint32)
    return drawn[:number], jnp.asarray(words)


@pytest.mark.parametrize("number", SIZES)
def test_unpack(number: int) -> None:
    expected, words = random_bits(number)
    found = bits.unpack(words, number)
    assert found.dtype == jnp.uint32
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("number", SIZES)
def test_keep(number: int) -> None:
    expected, words = random_bits(number)
    kept = bits.keep(words, number)
    assert kept.dtype == jnp.uint32
    assert kept.shape == (bits.num_words(number),)
    assert bits.num_words(number) == np.ceil(number / 32)
    everything = bits.unpack(kept, 32 * len(kept))
    np.testing.assert_array_equal(everything[:number], expected)
    assert not everything[number:].any()


def test_bit() -> None:
    expected, words = random_bits(70)
    found = [bits.bit(words, number) for number in range(70)]
    assert all(each.dtype == jnp.int32 and each.shape == () for each in found)
    np.testing.assert_array_equal(jnp.stack(found), expected)
