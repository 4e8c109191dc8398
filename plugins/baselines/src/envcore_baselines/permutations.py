"""Random orders of the steps of a rollout, for minibatches."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from envcore import random
from jax import lax


def permutations(key: jax.Array, num: int, size: int) -> jax.Array:
    """Returns `num` random orders of the numbers below `size`, int32 (num, size).

    `jax.random.permutation` takes eight times as long on a CPU, a quarter of an update of PPO. Up to 8,192 numbers are
    sorted by the random bits above them, 19 or more. Equal ones stay in order: of two neighbours in an order of 8,192,
    the first is the smaller in 50.1% of all cases. More numbers are sorted by 32 bits.
    """
    low, numbers = (size - 1).bit_length(), lax.broadcasted_iota(jnp.uint32, (num, size), 1)
    words = random.bits(key, (num, size))
    if low > 13:
        order = lax.sort((words, numbers), num_keys=1, is_stable=False)[1]
    else:
        order = lax.sort(words << low | numbers, is_stable=False) & (1 << low) - 1
    return order.astype(jnp.int32)
