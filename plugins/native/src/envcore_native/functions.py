"""Primitives as functions of simpler ones; of random keys, as functions of their two words."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from envcore import random
from envcore.errors import InvalidArgumentError
from jax import lax


def _unchanged(words: jax.Array, **params: Any) -> jax.Array:
    return words


def _seed(seeds: jax.Array, **params: Any) -> jax.Array:
    return jnp.stack([jnp.zeros_like(seeds), seeds], axis=-1).astype(jnp.uint32)


def _bits(keys: jax.Array, *, bit_width: int, shape: tuple[int, ...]) -> jax.Array:
    if bit_width != 32:
        raise InvalidArgumentError(f"envcore_native has no rule for random words of {bit_width} bits.")
    return _over_batch(lambda key: random.bits(key, shape), keys.ndim - 1)(keys)


def _split(keys: jax.Array, *, shape: tuple[int, ...]) -> jax.Array:
    return _over_batch(lambda key: random.split(key, math.prod(shape)).reshape(*shape, 2), keys.ndim - 1)(keys)


def _fold_in(keys: jax.Array, data: jax.Array) -> jax.Array:
    return _over_batch(random.fold_in, keys.ndim - 1)(keys, data)


def _over_batch(fun: Callable[..., jax.Array], num_axes: int) -> Callable[..., jax.Array]:
    for _ in range(num_axes):
        fun = jax.vmap(fun)
    return fun


def _parts(x: jax.Array, *, sizes: Any, axis: int) -> list[jax.Array]:
    ends = list(itertools.accumulate(map(int, sizes), initial=0))
    return [lax.slice_in_dim(x, *pair, axis=axis) for pair in itertools.pairwise(ends)]


def _rows(x: jax.Array, *, axis: int) -> list[jax.Array]:
    return [lax.index_in_dim(x, i, axis, keepdims=False) for i in range(x.shape[axis])]


def _power(x: jax.Array, *, y: int) -> jax.Array:
    power, square = None, x
    for bit in reversed(bin(abs(y))[2:]):
        if bit == "1":
            power = square if power is None else power * square
        square = square * square
    power = jnp.ones_like(x) if power is None else power
    return 1 / power if y < 0 else power


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "clamp": lambda low, x, high: jnp.minimum(jnp.maximum(low, x), high),
    "integer_pow": _power,
    "random_bits": _bits,
    "random_clone": _unchanged,
    "random_fold_in": _fold_in,
    "random_seed": _seed,
    "random_split": _split,
    "random_unwrap": _unchanged,
    "random_wrap": _unchanged,
    "split": _parts,
    "square": lambda x: x * x,
    "unstack": _rows,
}
