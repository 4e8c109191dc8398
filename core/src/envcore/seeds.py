"""The random key of a seed."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from envcore.errors import InvalidArgumentError

_COPIES = {"threefry2x32": 1, "rbg": 2, "unsafe_rbg": 2}  # how often a key repeats the seed's two words


def key_of(seed: int) -> jax.Array:
    """The random key of a seed: what `jax.random.key` returns in x64 mode, in either mode.

    In 32-bit mode `jax.random.key` silently drops the upper half of a seed.

    Raises:
      InvalidArgumentError: the seed is negative or does not fit into 63 bits; or it does not fit into 32 bits, and the
        default key type is not one of JAX's own.
    """
    if not 0 <= seed < 2**63:
        raise InvalidArgumentError(f"seed must be from 0 to 2**63 - 1, got {seed}.")
    if seed < 2**32:
        return jax.random.key(seed)
    kind = str(jax.random.key_impl(jax.random.key(0)))
    if kind not in _COPIES:
        raise InvalidArgumentError(f"seed must be less than 2**32 for random keys of type {kind}, got {seed}.")
    words = jnp.array([seed >> 32, seed % 2**32] * _COPIES[kind], jnp.uint32)
    return jax.random.wrap_key_data(words, impl=kind)
