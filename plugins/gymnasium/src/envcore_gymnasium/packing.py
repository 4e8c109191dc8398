"""A pytree in few arrays, because a call of a compiled program costs microseconds for each array in and out."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import trees
from jax import lax

from envcore_gymnasium.arrays import writable

_LARGE = 2**16  # bytes; a leaf from this size on stays alone, because copying it costs more than another array

Packed = tuple[jax.Array, ...]
"""The small leaves of 32 bits in one uint32 array, other small leaves in one of uint8, and each large leaf."""


@dataclasses.dataclass(frozen=True)
class Part:
    """Where one leaf lies.

    Attributes:
      array: the number of its array in the tuple.
      start: its first byte there; None if it is the whole array.
      shape: its shape; of a random key that of its data.
      dtype: its numpy dtype.
      stored: the dtype in which it lies there: a single bool has a word of its own.
      key: the implementation of a random key, else None.
    """

    array: int
    start: int | None
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    stored: np.dtype[Any]
    key: Any = None

    @property
    def num_bytes(self) -> int:
        return math.prod(self.shape) * self.stored.itemsize

    def copy(self, host: Any) -> Any:
        """A copy of the leaf from the arrays' memories on the host."""
        array = np.ndarray(self.shape, self.stored, host[self.array], self.start or 0)
        return array.copy() if self.stored is self.dtype else array.astype(self.dtype)


class Layout:
    """Where each leaf of a pytree lies in its `Packed` arrays.

    Args:
      struct: a pytree of `jax.ShapeDtypeStruct`s whose dtypes have at most 32 bits.
    """

    def __init__(self, struct: Any):
        leaves, self._structure = jax.tree.flatten(struct)
        parts = [_part(leaf) for leaf in leaves]
        kinds = sorted({part.array for part in parts if part.start is not None})  # 0 for words, 1 for bytes
        self._num_packed, large, ends = len(kinds), len(kinds), [0, 0]
        self._parts: list[Part] = []
        for part in parts:
            if part.start is None:
                part, large = dataclasses.replace(part, array=large), large + 1
            else:
                kind, start = part.array, ends[part.array]
                ends[kind] += part.num_bytes
                part = dataclasses.replace(part, array=kinds.index(kind), start=start)
            self._parts.append(part)
        self.parts = jax.tree.unflatten(self._structure, self._parts)

    def pack(self, tree: Any) -> Packed:
        """Packs a tree with the types of the struct."""
        pieces: list[list[jax.Array]] = [[] for _ in range(self._num_packed)]
        large: list[jax.Array] = []
        for leaf, part in zip(jax.tree.leaves(tree), self._parts, strict=True):
            if part.start is None:
                large.append(leaf)
            else:
                pieces[part.array].append(_stored(leaf, part))
        return (*map(jnp.concatenate, pieces), *large)

    def unpack(self, packed: Packed) -> Any:
        """The tree that was packed."""
        leaves = [packed[part.array] if part.start is None else _taken(packed, part) for part in self._parts]
        return jax.tree.unflatten(self._structure, leaves)

    def on_host(self, packed: Packed) -> Any:
        """The tree in numpy arrays that can be written to: copies of small leaves, and the large ones themselves.

        The packed arrays may not be used afterwards.
        """
        host = memories(packed)
        leaves = [writable(packed[part.array]) if part.start is None else part.copy(host) for part in self._parts]
        return self._structure.unflatten(leaves)


def memories(packed: Packed) -> list[Any]:
    """The memories of the arrays on the host, which numpy can read."""
    return [_memory(array) for array in packed]


def _memory(array: jax.Array) -> Any:
    try:
        return memoryview(array)  # pyright: ignore[reportArgumentType]  # in half the time of `np.asarray`
    except Exception:  # it is not on the CPU
        return np.asarray(array)


def _part(leaf: Any) -> Part:
    key = None
    if trees.kind(leaf.dtype) == "key":
        found: list[Any] = []
        jax.eval_shape(lambda key: found.append(jax.random.key_impl(key)), leaf)  # a struct does not tell it otherwise
        key, leaf = found[0], jax.eval_shape(jax.random.key_data, leaf)
    dtype = np.dtype(leaf.dtype)
    stored = np.dtype(np.uint32) if dtype == np.bool_ and not leaf.shape else dtype
    part = Part(int(stored.itemsize < 4), 0, leaf.shape, dtype, stored, key)
    return part if part.num_bytes < _LARGE or key is not None else dataclasses.replace(part, start=None)


def _stored(leaf: Any, part: Part) -> jax.Array:
    flat = jnp.asarray(leaf if part.key is None else jax.random.key_data(leaf)).reshape(-1)
    if part.dtype == np.bool_:
        return flat.astype(np.uint8 if part.stored == np.bool_ else np.uint32)
    return lax.bitcast_convert_type(flat, np.uint32 if part.stored.itemsize == 4 else np.uint8).reshape(-1)


def _taken(packed: Packed, part: Part) -> jax.Array:
    array, size, start = packed[part.array], part.stored.itemsize, part.start or 0
    unit = array.dtype.itemsize
    flat = lax.slice_in_dim(array, start // unit, (start + part.num_bytes) // unit)
    if part.dtype == np.bool_:
        values = flat.astype(np.bool_)
    else:
        values = lax.bitcast_convert_type(flat if size == unit else flat.reshape(-1, size), part.stored)
    values = values.reshape(part.shape)
    return values if part.key is None else jax.random.wrap_key_data(values, impl=part.key)
