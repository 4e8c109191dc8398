"""Threefry-2x32, the default random numbers of JAX, in blocks, as plain arithmetic: what `envcore.random` is made of.

A key is its two words, uint32 (2,).
"""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from envcore.fusion import compute_once

Pair = tuple[jax.Array, jax.Array]

SPAWN_TAG = 0x73706177
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)


def counters(shape: tuple[int, ...], start: Any = 0) -> Pair:
    """The counters of words `start` and after, two of uint32 `shape`."""
    low = lax.iota(jnp.uint32, math.prod(shape)).reshape(shape) + start
    return jnp.zeros_like(low), low


# Jitted so that a call outside `jit` costs microseconds; inside, they inline.
@functools.partial(jax.jit, static_argnums=1, inline=True)
def words(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """The words of a block: uint32 of `shape`."""
    x, y = threefry(key, counters(shape))
    return x ^ y


@functools.partial(jax.jit, static_argnums=1, inline=True)
def keys(key: jax.Array, num: int) -> jax.Array:
    """New keys, uint32 (num, 2)."""
    # Without the boundary XLA CPU computes each key again for every word and every array that depends on it:
    # 2.7 instead of 50 million CartPole steps per second (2,048 environments, one core).
    return compute_once(lambda key: jnp.stack(threefry(key, counters((num,))), axis=-1), key)


@functools.partial(jax.jit, inline=True)
def folded(key: jax.Array, number: jax.Array) -> jax.Array:
    """The new key of a key and a number, uint32 (): uint32 (2,)."""
    return _pair(key, (jnp.zeros_like(number), number))


@functools.partial(jax.jit, static_argnums=(2, 3), inline=True)
def counted_keys(key: jax.Array, start: jax.Array | np.uint32, num: int, total: int) -> jax.Array:
    """Keys `start` to `start + num` of `total`, uint32 (num, 2): one evaluation for all."""
    # The counters of `split` and `bits` have a first word of 0, so none of their blocks equals this one.
    pair = _pair(key, (jnp.uint32(SPAWN_TAG), jnp.uint32(total)))
    return jnp.stack([jnp.broadcast_to(pair[0], (num,)), pair[1] + start + lax.iota(jnp.uint32, num)], axis=-1)


def _pair(key: jax.Array, counter: Pair) -> jax.Array:
    """Both words for a counter, two of uint32 (): uint32 (2,)."""
    # Without the boundary XLA CPU would evaluate this again for each of the keys that are counted from it. Inside, it
    # computes and stacks both words in one kernel.
    return compute_once(lambda key, counter: jnp.stack(threefry(key, counter)), key, counter)


# Jitted, and written in `lax` rather than operators, because a program traces it for each draw: a third of the time.
@jax.jit
def threefry(key: jax.Array, counters: Pair) -> Pair:
    """Threefry-2x32 with 20 rounds (Salmon et al. 2011)."""
    words = (key[0], key[1], key[0] ^ key[1] ^ _PARITY)
    schedule = tuple(jnp.broadcast_to(word, counters[0].shape) for word in words)
    x, y = lax.add(counters[0], schedule[0]), lax.add(counters[1], schedule[1])
    for group in range(5):
        for distance in _ROTATIONS[group % 2]:
            x = lax.add(x, y)
            left = lax.shift_left(y, np.uint32(distance))
            right = lax.shift_right_logical(y, np.uint32(32 - distance))
            y = lax.bitwise_xor(x, lax.bitwise_or(left, right))
        x = lax.add(x, schedule[(group + 1) % 3])
        y = lax.add(lax.add(y, schedule[(group + 2) % 3]), np.uint32(group + 1))
    return x, y
