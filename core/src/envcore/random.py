"""Faster versions of `jax.random` functions, for environments whose steps are cheap.

XLA's CPU backend runs `jax.random`'s threefry as a loop, which takes most of the time of a CartPole step. This module
unrolls the twenty rounds into plain arithmetic that XLA vectorizes and fuses. For keys of the default type
(`threefry2x32`, typed or legacy), `split`, `fold_in`, `bits` and `uniform` return exactly what `jax.random` returns.
For all other key types, and if `jax_threefry_partitionable` is off, they call `jax.random`.

`reset_key` and `spawn` have no counterpart in `jax.random`. Any two different threefry keys give independent streams
(Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"). Keys derived from one key therefore only have to
differ, which an addition ensures. Keys derived from different keys must not collide either, so `spawn` hashes the key
before it counts up.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike

from envcore import forks, trees
from envcore.errors import InvalidArgumentError
from envcore.fusion import compute_once

Pair = tuple[jax.Array, jax.Array]

_RESET_TAG = 0x7265736B
_SPAWN_TAG = 0x73706177
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)
_COPIES = {"threefry2x32": 1, "rbg": 2, "unsafe_rbg": 2}  # how often a key repeats the two words of the seed
_CONFIG: Any = jax.config


def check_key(key: object) -> None:
    """Raises `InvalidArgumentError` unless `key` is a single typed key, or a single legacy key of the default type.

    Also raises `EnvcoreError` if this process was forked after JAX had started, because all computations take a key.
    """
    forks.check()
    is_array = isinstance(key, jax.Array | np.ndarray)
    if is_array and trees.is_key(key):
        batch = key.shape
    elif is_array and key.dtype == np.uint32 and key.shape[-1:] == (_legacy_size(),):
        batch = key.shape[:-1]
    else:
        got = f"an array of {key.dtype}{list(key.shape)}" if is_array else repr(key)
        raise InvalidArgumentError(f"expected a random key, got {got}: make one with jax.random.key(seed).")
    if batch:
        raise InvalidArgumentError(f"expected one random key, got a batch of {batch}: use jax.vmap, or pass one.")


def split(key: jax.Array, num: int = 2) -> jax.Array:
    """Returns `num` new keys, shape `(num,)`, or `(num, 2)` for legacy keys. Equal to `jax.random.split`."""
    words = _threefry_key(key)
    if words is None:
        return jax.random.split(key, num)
    return _as_key_like(key, _keys(words, num))


def fold_in(key: jax.Array, data: ArrayLike) -> jax.Array:
    """Returns a new key derived from a key and a number, uint32 (). Equal to `jax.random.fold_in`."""
    words = _threefry_key(key)
    if words is None:
        return jax.random.fold_in(key, data)
    return _as_key_like(key, _folded(words, jnp.uint32(data)))


def bits(key: jax.Array, shape: tuple[int, ...] = ()) -> jax.Array:
    """Returns uniform random words, uint32 of `shape`. Equal to `jax.random.bits`.

    In an environment, draw one block per step and slice it.
    """
    words = _threefry_key(key)
    if words is None:
        return jax.random.bits(key, shape, jnp.uint32)
    return _words(words, shape)


def uniform(key: jax.Array, shape: tuple[int, ...] = (), minval: ArrayLike = 0.0, maxval: ArrayLike = 1.0) -> jax.Array:
    """Returns float32 of `shape`, uniform on [minval, maxval). Equal to `jax.random.uniform`."""
    low, high = jnp.asarray(minval, jnp.float32), jnp.asarray(maxval, jnp.float32)
    low, high = jnp.broadcast_to(low, shape), jnp.broadcast_to(high, shape)
    return _between(low, high, bits(key, shape))


def units(key: jax.Array, *shapes: tuple[int, ...]) -> list[jax.Array]:
    """Returns float32 arrays of the given shapes, uniform on [0, 1), cut from one block of random words.

    Concatenated, they equal one `uniform` draw of their total size.
    """
    *starts, total = np.cumsum([0, *map(math.prod, shapes)]).tolist()
    # Without the boundary, XLA CPU hashes again for each piece: 240 instead of 58 ns per step of Swimmer.
    block = compute_once(lambda key: unit(bits(key, (total,))), key)
    return [block[start : start + math.prod(shape)].reshape(shape) for start, shape in zip(starts, shapes, strict=True)]


def normal(key: jax.Array, shape: tuple[int, ...] = ()) -> jax.Array:
    """Returns standard normal float32 of `shape`. Equal to `jax.random.normal`."""

    def draw(key: jax.Array) -> jax.Array:
        return normals(bits(key, shape))

    # Without the boundary, XLA CPU repeats all of this for each slice, and PPO's initialization compiles 1.7x slower.
    return draw(key) if math.prod(shape) == 1 else compute_once(draw, key)


def unit(words: jax.Array) -> jax.Array:
    """Converts uint32 words to float32, uniform on [0, 1), with 23 bits each."""
    mantissa = lax.shift_right_logical(words, np.uint32(9)) | np.uint32(0x3F800000)
    return lax.bitcast_convert_type(mantissa, jnp.float32) - np.float32(1)


def normals(words: jax.Array) -> jax.Array:
    """Converts uint32 words to standard normal float32."""
    low = np.nextafter(np.float32(-1), np.float32(0))
    return np.float32(math.sqrt(2)) * lax.erf_inv(_between(low, np.float32(1), words))


def integers(words: jax.Array, bound: jax.Array | np.ndarray | int) -> jax.Array:
    """Converts uint32 words to int32, uniform on {0, ..., bound - 1}, for `0 < bound < 2**31`.

    Takes the high half of the product word * bound, which needs no modulo. The bias is at most bound / 2**32.
    """
    half, lowest = np.uint32(16), np.uint32(0xFFFF)
    factor, high_word = jnp.asarray(bound, jnp.uint32), words >> half
    carried = (words & lowest) * (factor & lowest) >> half
    cross = high_word * (factor & lowest) + carried
    if isinstance(bound, jax.Array) or np.max(bound, initial=0) >= 2**16:
        top = factor >> half
        cross_low = (words & lowest) * top + (cross & lowest)
        return (high_word * top + (cross >> half) + (cross_low >> half)).astype(jnp.int32)
    return (cross >> half).astype(jnp.int32)


def key_words(key: jax.Array) -> jax.Array:
    """Converts a key to a legacy key of the default key type, for other libraries: uint32 (2,), or (4,) for "rbg".

    If the key has another type, the result is drawn from it.
    """
    check_key(key)
    if not trees.is_key(key):
        return jnp.asarray(key)
    if str(jax.random.key_impl(key)) == str(_CONFIG.jax_default_prng_impl):
        return jax.random.key_data(key)
    return bits(key, (_legacy_size(),))


def reset_key(key: jax.Array) -> jax.Array:
    """Returns the key for the auto-reset inside `step(key, ...)`, independent of what the step itself draws.

    Adds a constant to the first word of the key. That word is 0, the upper half of a seed, or hashed, so a reset key
    equals the key of another step with a probability of only 2**-64. Hashing here too would cost 10 to 15% of a
    CartPole step under `vmap`.
    """
    words = _threefry_key(key)
    if words is None:
        return jax.random.fold_in(key, _RESET_TAG)
    first, second = words
    return _as_key_like(key, jnp.stack([first + np.uint32(_RESET_TAG), second]))


def spawn(key: jax.Array, num: int, start: jax.Array | int = 0, total: int | None = None) -> jax.Array:
    """Returns `num` keys for `num` environments, shape `(num,)`, or `(num, 2)` for legacy keys. Cheaper than `split`.

    `split` evaluates threefry twice for each new key. `spawn` evaluates it once per batch, on the key, a constant and
    the number of keys, and counts up from the result. Two batches are no more likely to share a key than two results
    of `split`.

    With `start`, returns the keys from index `start` of `spawn(key, total)`.
    """
    words, total = _threefry_key(key), num if total is None else total
    if words is None:
        keys = jax.random.split(jax.random.fold_in(key, _SPAWN_TAG), total)
        return lax.dynamic_slice_in_dim(keys, start, num)
    # Slicing all keys would stop XLA CPU from fusing them with their use, and make CartPole three times slower.
    first = start.astype(jnp.uint32) if isinstance(start, jax.Array) else np.uint32(start)
    return _as_key_like(key, _counted_keys(words, first, num, total))


def _between(low: Any, high: Any, words: jax.Array) -> jax.Array:
    """Converts uint32 words to float32, uniform on [low, high), rounded like `jax.random.uniform`."""
    return jnp.maximum(low, unit(words) * (high - low) + low)


def _legacy_size() -> int:
    return 4 if "rbg" in str(_CONFIG.jax_default_prng_impl) else 2


def _threefry_key(key: jax.Array) -> jax.Array | None:
    """Returns the two words of a threefry key, uint32 (2,), or None if `jax.random` has to do the work."""
    check_key(key)
    if not _CONFIG.jax_threefry_partitionable:
        return None
    if trees.is_key(key):
        if str(jax.random.key_impl(key)) != "threefry2x32":
            return None
        key = jax.random.key_data(key)
    elif _CONFIG.jax_default_prng_impl != "threefry2x32":
        return None
    return jnp.asarray(key)  # numpy would warn when words wrap around


def _as_key_like(key: jax.Array, words: jax.Array) -> jax.Array:
    if trees.is_key(key):
        return jax.random.wrap_key_data(words, impl=jax.random.key_impl(key))
    return words


def key_of(seed: int | np.integer) -> jax.Array:
    """Returns the key for a seed, like `jax.random.key` in x64 mode. In 32-bit mode, JAX drops a seed's upper half.

    Raises:
      InvalidArgumentError: the seed is not an integer from 0 to 2**63 - 1, or too large for the default key type.
      EnvcoreError: this process was forked after JAX had started.
    """
    forks.check()
    if not is_seed(seed) or seed >= 2**63:
        raise InvalidArgumentError(f"seed must be an integer from 0 to 2**63 - 1, got {seed!r}.")
    if seed < 2**32:
        return jax.random.key(seed)
    kind = str(jax.random.key_impl(jax.random.key(0)))
    if kind not in _COPIES:
        raise InvalidArgumentError(f"seed must be less than 2**32 for random keys of type {kind}, got {seed}.")
    seed = int(seed)  # numpy integers may have only 32 bits
    words = jnp.array([seed >> 32, seed % 2**32] * _COPIES[kind], jnp.uint32)
    return jax.random.wrap_key_data(words, impl=kind)


def is_seed(value: Any) -> bool:
    """Returns whether a value is a non-negative integer, as seeds must be."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 0


# Threefry-2x32, JAX's default generator, in blocks of plain arithmetic. A key is its two words, uint32 (2,).


def counters(shape: tuple[int, ...], start: Any = 0) -> Pair:
    """Returns the counters of `shape` words from `start` on: a pair of uint32 arrays of `shape`."""
    low = lax.iota(jnp.uint32, math.prod(shape)).reshape(shape) + start
    return jnp.zeros_like(low), low


# Jitted so that a call outside `jit` takes only microseconds. Inside `jit`, they are inlined.
@functools.partial(jax.jit, static_argnums=1, inline=True)
def _words(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """Returns a block of random words, uint32 of `shape`."""
    x, y = threefry(key, counters(shape))
    return x ^ y


@functools.partial(jax.jit, static_argnums=1, inline=True)
def _keys(key: jax.Array, num: int) -> jax.Array:
    """Returns new keys, uint32 (num, 2)."""
    # Without the boundary, XLA CPU recomputes each key for every word and every array that depends on it:
    # 2.7 instead of 50 million CartPole steps per second (2,048 environments, one core).
    return compute_once(lambda key: jnp.stack(threefry(key, counters((num,))), axis=-1), key)


@functools.partial(jax.jit, inline=True)
def _folded(key: jax.Array, number: jax.Array) -> jax.Array:
    """Returns a new key, uint32 (2,), derived from a key and a number, uint32 ()."""
    return _pair(key, (jnp.zeros_like(number), number))


@functools.partial(jax.jit, static_argnums=(2, 3), inline=True)
def _counted_keys(key: jax.Array, start: jax.Array | np.uint32, num: int, total: int) -> jax.Array:
    """Returns keys `start` to `start + num` of `total`, uint32 (num, 2), with one threefry evaluation for all."""
    # The counters of `split` and `bits` have a first word of 0, so this block differs from all of theirs.
    pair = _pair(key, (jnp.uint32(_SPAWN_TAG), jnp.uint32(total)))
    return jnp.stack([jnp.broadcast_to(pair[0], (num,)), pair[1] + start + lax.iota(jnp.uint32, num)], axis=-1)


def _pair(key: jax.Array, counter: Pair) -> jax.Array:
    """Returns both words, uint32 (2,), for a counter, a pair of uint32 ()."""
    # Without the boundary, XLA CPU would evaluate this again for each of the keys that are counted from it. Inside the
    # boundary, it computes and stacks both words in one kernel.
    return compute_once(lambda key, counter: jnp.stack(threefry(key, counter)), key, counter)


# Jitted, and written with `lax` functions instead of operators: programs trace it for each draw, and this is 3x faster.
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
