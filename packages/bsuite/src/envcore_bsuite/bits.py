"""Extracts random bits from random 32-bit words."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

_WORD = 32


def num_words(num_bits: int) -> int:
    """Returns the number of words that contain `num_bits` bits."""
    return -(-num_bits // _WORD)


def unpack(words: jax.Array, num_bits: int) -> jax.Array:
    """Returns the first `num_bits` bits of uint32 words (n,), lowest first, as uint32 (num_bits,)."""
    if num_bits == 0:
        return jnp.zeros(0, jnp.uint32)
    places = np.arange(_WORD, dtype=np.uint32)[None]
    return ((words[: num_words(num_bits), None] >> places) & np.uint32(1)).reshape(-1)[:num_bits]


def keep(words: jax.Array, num_bits: int) -> jax.Array:
    """Returns words with the first `num_bits` bits, and all later bits 0: uint32 (num_words(num_bits),)."""
    full = np.full(num_words(num_bits), 0xFFFFFFFF, np.uint32)
    if num_bits % _WORD:
        full[-1] = 2 ** (num_bits % _WORD) - 1
    return words[: len(full)] & full


def bit(words: jax.Array, number: int) -> jax.Array:
    """Returns one bit of uint32 words (n,), as int32 ()."""
    return ((words[number // _WORD] >> np.uint32(number % _WORD)) & np.uint32(1)).astype(jnp.int32)
