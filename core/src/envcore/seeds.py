"""Seeds, and the random key of one."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envcore import forks
from envcore.errors import InvalidArgumentError

_COPIES = {"threefry2x32": 1, "rbg": 2, "unsafe_rbg": 2}  # how often a key repeats the seed's two words


def key_of(seed: int | np.integer) -> jax.Array:
    """The random key of a seed: what `jax.random.key` returns in x64 mode, in either mode.

    In 32-bit mode `jax.random.key` silently drops the upper half of a seed.

    Raises:
      InvalidArgumentError: the seed is not an integer from 0 to 2**63 - 1; or it does not fit into 32 bits, and the
        default key type is not one of JAX's own.
      EnvcoreError: this process was forked after JAX had started.
    """
    forks.check()
    if not _is_seed(seed) or seed >= 2**63:
        raise InvalidArgumentError(f"seed must be an integer from 0 to 2**63 - 1, got {_shown(seed)}.")
    if seed < 2**32:
        return jax.random.key(seed)
    kind = str(jax.random.key_impl(jax.random.key(0)))
    if kind not in _COPIES:
        raise InvalidArgumentError(f"seed must be less than 2**32 for random keys of type {kind}, got {seed}.")
    seed = int(seed)  # numpy's may have only 32 bits
    words = jnp.array([seed >> 32, seed % 2**32] * _COPIES[kind], jnp.uint32)
    return jax.random.wrap_key_data(words, impl=kind)


def optional_seed(seed: Any) -> int | None:
    """The seed as an `int`, or None, where a seed may have any number of bits, as numpy's may.

    Raises:
      InvalidArgumentError: it is neither None nor a non-negative integer.
    """
    if seed is not None and not _is_seed(seed):
        raise InvalidArgumentError(f"seed must be a non-negative integer or None, got {_shown(seed)}.")
    return None if seed is None else int(seed)


def _shown(seed: Any) -> str:
    is_long = isinstance(seed, int) and seed.bit_length() > 1_000  # Python does not print numbers of 4,300 digits
    return f"a number of {seed.bit_length():,} bits" if is_long else repr(seed)


def _is_seed(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 0
