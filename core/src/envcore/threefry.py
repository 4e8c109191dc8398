"""Threefry-2x32, the default random numbers of JAX, in blocks, as plain arithmetic: what `envcore.random` is made of.

A key is its two words, uint32 () each.
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
_FEW = 4  # words that GPUs compute one by one


def check_block(size: int) -> None:
    """Raises `ValueError` where one key cannot generate so many words."""
    if size >= 2**32:
        raise ValueError(f"a block of {size} random words is more than one key can generate")


def counters(shape: tuple[int, ...], start: Any = 0) -> Pair:
    """The counters of words `start` and after, two of uint32 `shape`."""
    check_block(math.prod(shape))
    low = lax.iota(jnp.uint32, math.prod(shape)).reshape(shape) + start
    return jnp.zeros_like(low), low


# Jitted so that a call outside `jit` costs microseconds; inside, they inline.
@functools.partial(jax.jit, static_argnums=3, inline=True)
def block(first: jax.Array, second: jax.Array, start: jax.Array | int, shape: tuple[int, ...]) -> jax.Array:
    """Words `start` and after of a block, uint32 of `shape`."""
    x, y = threefry((first, second), counters(shape, start))
    return x ^ y


# XLA's GPU backend stores a block of which slices are read, in a kernel of its own. A few words are computed where they
# are used instead, one by one: an iteration of 2,048 CartPoles starts 9 kernels instead of 10 and moves 86 bytes of
# each instead of 118. XLA's CPU backend is faster with a block.
@functools.partial(jax.jit, static_argnums=2, inline=True)
def words(first: jax.Array, second: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """The words of a block from its start: uint32 of `shape`."""

    def together(first: jax.Array, second: jax.Array) -> jax.Array:
        return block(first, second, 0, shape)

    def apart(first: jax.Array, second: jax.Array) -> jax.Array:
        return jnp.stack([block(first, second, np.uint32(n), ()) for n in range(math.prod(shape))]).reshape(shape)

    if 1 < math.prod(shape) <= _FEW:
        return lax.platform_dependent(first, second, cpu=together, default=apart)
    return together(first, second)


@functools.partial(jax.jit, static_argnums=2, inline=True)
def keys(first: jax.Array, second: jax.Array, num: int) -> jax.Array:
    """New keys, uint32 (num, 2)."""

    def together(first: jax.Array, second: jax.Array) -> jax.Array:
        return jnp.stack([_block_half(first, second, num, half) for half in (0, 1)], axis=-1)

    def apart(first: jax.Array, second: jax.Array) -> jax.Array:
        pairs = [threefry((first, second), counters((), np.uint32(n))) for n in range(num)]
        return jnp.stack([jnp.stack(pair) for pair in pairs])

    if 0 < num <= _FEW:
        return lax.platform_dependent(first, second, cpu=together, default=apart)
    return together(first, second)


@functools.partial(jax.jit, static_argnums=(2, 3), inline=True)
def _block_half(first: jax.Array, second: jax.Array, num: int, half: int) -> jax.Array:
    # Without the boundary XLA CPU computes each key again for every word and every array that depends on it:
    # 2.7 instead of 50 million CartPole steps per second (2,048 environments, one core).
    return compute_once(lambda first, second: threefry((first, second), counters((num,)))[half], first, second)


@functools.partial(jax.jit, static_argnums=(3, 4), inline=True)
def counted_keys(first: jax.Array, second: jax.Array, start: jax.Array | np.uint32, num: int, total: int) -> jax.Array:
    """Keys `start` to `start + num` of `total`, uint32 (num, 2): one evaluation for all."""
    # The counters of `split` and `bits` have a first word of 0, so none of their blocks equals this one.
    tagged = np.uint32(SPAWN_TAG), np.uint32(total)
    # Without the boundary XLA CPU would evaluate this one block again for each of the keys.
    first, second = compute_once(lambda *key: threefry(key, jax.tree.map(jnp.asarray, tagged)), first, second)
    return jnp.stack([jnp.broadcast_to(first, (num,)), second + start + lax.iota(jnp.uint32, num)], axis=-1)


# Jitted, and written in `lax` rather than operators, because a program traces it for each draw: a third of the time.
@functools.partial(jax.jit, inline=True)
def threefry(key: Pair, counters: Pair) -> Pair:
    """Threefry-2x32 with 20 rounds (Salmon et al. 2011)."""
    words = (*key, key[0] ^ key[1] ^ _PARITY)
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
