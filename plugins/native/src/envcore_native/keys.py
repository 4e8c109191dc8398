"""Random keys inside a program: `jax.random`'s primitives as functions of a key's two words."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, trees
from envcore.errors import InvalidArgumentError

from envcore_native.scalars import Scalar


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Key:
    """A typed key, which is an element of an array as a scalar is."""

    words: tuple[Scalar, ...]


def is_key(aval: Any) -> bool:
    return trees.kind(aval.dtype) == "key"


def _unchanged(words: jax.Array, **params: Any) -> jax.Array:
    return words


def _seed(seeds: jax.Array, **params: Any) -> jax.Array:
    return jnp.stack([jnp.zeros_like(seeds), seeds], axis=-1).astype(jnp.uint32)


def _bits(keys: jax.Array, *, bit_width: int, shape: tuple[int, ...]) -> jax.Array:
    if bit_width != 32:
        raise InvalidArgumentError(f"envcore_native has no rule for random words of {bit_width} bits.")
    return _over_batch(lambda key: random.bits(key, shape), keys.ndim - 1)(keys)


def _split(keys: jax.Array, *, shape: tuple[int, ...]) -> jax.Array:
    def one(key: jax.Array) -> jax.Array:
        return random.split(key, int(np.prod(shape))).reshape(*shape, 2)

    return _over_batch(one, keys.ndim - 1)(keys)


def _fold_in(keys: jax.Array, data: jax.Array) -> jax.Array:
    return _over_batch(random.fold_in, keys.ndim - 1)(keys, data)


def _over_batch(fun: Callable[..., jax.Array], num_axes: int) -> Callable[..., jax.Array]:
    for _ in range(num_axes):
        fun = jax.vmap(fun)
    return fun


FUNCTIONS: dict[str, Callable[..., jax.Array]] = {
    "random_bits": _bits,
    "random_clone": _unchanged,
    "random_fold_in": _fold_in,
    "random_seed": _seed,
    "random_split": _split,
    "random_unwrap": _unchanged,
    "random_wrap": _unchanged,
}
