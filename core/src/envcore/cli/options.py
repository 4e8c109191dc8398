"""What the values of options that several commands share turn into."""

from __future__ import annotations

import jax

from envcore.errors import RolloutError


def key_of(seed: int) -> jax.Array:
    """The random key of `--seed`.

    Raises:
      RolloutError: the seed is negative or does not fit into 63 bits.
    """
    if not 0 <= seed < 2**63:
        raise RolloutError(f"--seed must be from 0 to 2**63 - 1, got {seed}.")
    return jax.random.key(seed)
