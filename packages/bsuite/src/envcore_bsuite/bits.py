"""Random bits from random words of 32 bits."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

_WORD = 32


def num_words(num_bits: int) -> int:
    """The number of words that hold `num_bits` bits."""
    return -(-num_bits // _WORD)


def unpack(words: jax.Array, num_bits: int) -> jax.Array:
    """The first `num_bits` bits of uint32 words (n,), lowest first, as uint32 (num_bits,)."""
    if num_bits == 0:
        return jnp.zeros(0, jnp.uint32)
    places = np.arange(_WORD, dtype=np.uint32)[None]
    return ((words[: num_words(num_bits), None] >> places) & np.uint32(1)).reshape(-1)[:num_bits]


def keep(words: jax.Array, num_bits: int) -> jax.Array:
    """The words that hold the first `num_bits` bits, with all later bits 0: uint32 (num_words(num_bits),)."""
    full = np.full(num_words(num_bits), 0xFFFFFFFF, np.uint32)
    if num_bits % _WORD:
        full[-1] = 2 ** (num_bits % _WORD) - 1
    return words[: len(full)] & full


def bit(words: jax.Array, number: int) -> jax.Array:
    """One bit of uint32 words (n,), as int32 ()."""
    return ((words[number // _WORD] >> np.uint32(number % _WORD)) & np.uint32(1)).astype(jnp.int32)
