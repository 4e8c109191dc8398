"""Defines primitives by simpler ones. Random keys are arrays of two words here."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from envcore import random
from jax import lax

from envcore_native.rules import NoRuleError

_MOST_SORTED = 64


def _unchanged(x: jax.Array, **params: Any) -> jax.Array:
    return x


def _seed(seeds: jax.Array, **params: Any) -> jax.Array:
    return jnp.stack([jnp.zeros_like(seeds), seeds], axis=-1).astype(jnp.uint32)


def _bits(keys: jax.Array, *, bit_width: int, shape: tuple[int, ...]) -> jax.Array:
    if bit_width != 32:
        raise NoRuleError(f"random words of {bit_width} bits")
    return _over_batch(lambda key: random.bits(key, shape), keys.ndim - 1)(keys)


def _split(keys: jax.Array, *, shape: tuple[int, ...]) -> jax.Array:
    return _over_batch(lambda key: random.split(key, math.prod(shape)).reshape(*shape, 2), keys.ndim - 1)(keys)


def _fold_in(keys: jax.Array, data: jax.Array) -> jax.Array:
    return _over_batch(random.fold_in, keys.ndim - 1)(keys, data)


def _over_batch(fun: Callable[..., jax.Array], num_axes: int) -> Callable[..., jax.Array]:
    config: Any = jax.config
    if not config.jax_threefry_partitionable:
        raise NoRuleError("keys with jax_threefry_partitionable off")
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


def _dynamic_slice(x: jax.Array, *starts: jax.Array, slice_sizes: Sequence[int]) -> jax.Array:
    axes = tuple(range(x.ndim))
    return lax.gather(x, jnp.stack(starts), lax.GatherDimensionNumbers(axes, (), axes), slice_sizes, mode="clip")


def _dynamic_update_slice(x: jax.Array, update: jax.Array, *starts: jax.Array) -> jax.Array:
    axes = tuple(range(x.ndim))
    return lax.scatter(x, jnp.stack(starts), update, lax.ScatterDimensionNumbers(axes, (), axes), mode="clip")


def _cumulative(combine: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    def fun(x: jax.Array, *, axis: int, reverse: bool) -> jax.Array:
        order = -1 if reverse else 1
        return jnp.stack(list(itertools.accumulate(_rows(x, axis=axis)[::order], combine))[::order], axis)

    return fun


def _is_before(pairs: Sequence[tuple[jax.Array, jax.Array]]) -> jax.Array:
    """Whether the first elements of the pairs sort before the second ones. NaN comes last."""
    (a, b), *others = pairs
    before, after = (a < b) | (a == a) & (b != b), (b < a) | (b == b) & (a != a)
    return before | ~after & _is_before(others) if others else before


def _first_best(sign: int) -> Callable[..., jax.Array]:
    def fun(x: jax.Array, *, axes: Sequence[int], index_dtype: Any) -> jax.Array:
        best, *others = _rows(x, axis=axes[0])
        found = lax.full_like(best, 0, index_dtype)
        for number, other in enumerate(others, 1):
            is_better = ((other > best) if sign > 0 else (other < best)) | (best == best) & (other != other)
            best = lax.select(is_better, other, best)
            found = lax.select(is_better, lax.full_like(found, number), found)
        return found

    return fun


def _sort(*arrays: jax.Array, dimension: int, is_stable: bool, num_keys: int) -> list[jax.Array]:
    """Odd-even transposition sort, which is stable."""
    count = arrays[0].shape[dimension]
    if count > _MOST_SORTED:
        raise NoRuleError(f"{count} elements")
    lines = [_rows(x, axis=dimension) for x in arrays]
    for place in (place for first in range(count) for place in range(first % 2, count - 1, 2)):
        pairs = [(line[place], line[place + 1]) for line in lines]
        swaps = _is_before([(b, a) for a, b in pairs[:num_keys]])
        for line, (a, b) in zip(lines, pairs, strict=True):
            line[place], line[place + 1] = lax.select(swaps, b, a), lax.select(swaps, a, b)
    return [jnp.stack(line, dimension) for line in lines]


def _tile(x: jax.Array, *, reps: Sequence[int]) -> jax.Array:
    x = x.reshape((*(1,) * (len(reps) - x.ndim), *x.shape))
    for axis, count in enumerate(reps):
        x = lax.concatenate([x] * count, axis)
    return x


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "argmax": _first_best(1),
    "argmin": _first_best(-1),
    "clamp": lambda low, x, high: jnp.minimum(jnp.maximum(low, x), high),
    "cummax": _cumulative(lax.max),
    "cummin": _cumulative(lax.min),
    "cumprod": _cumulative(lax.mul),
    "cumsum": _cumulative(lax.add),
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "integer_pow": _power,
    "optimization_barrier": lambda *arrays: list(arrays),
    "random_bits": _bits,
    "random_fold_in": _fold_in,
    "random_seed": _seed,
    "random_split": _split,
    "sort": _sort,
    "split": _parts,
    "square": lambda x: x * x,
    "tile": _tile,
    "unstack": _rows,
    **dict.fromkeys(["copy", "copy_p", "random_clone", "random_unwrap", "random_wrap", "stop_gradient"], _unchanged),
}
