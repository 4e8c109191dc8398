"""A pytree in few arrays, because a call of a compiled program costs microseconds for each array in and out."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import trees
from jax import lax

from envcore_adapters.gymnasium.kernels import one_kernel

_LARGE = 2**16  # bytes; a leaf from this size on stays alone, because copying it costs more than another array
_WORDS = {1: np.dtype(np.uint8), 4: np.dtype(np.uint32)}

Packed = tuple[jax.Array, ...]
"""The small leaves of whole words in one uint32 array, other small leaves in one of uint8, and each large leaf."""

Memories = list[Any]
"""What numpy can read of packed arrays: a `memoryview` each, or an array."""


@dataclasses.dataclass(frozen=True)
class Part:
    """Where one leaf lies.

    Attributes:
      array: the number of its array in the tuple.
      start: its first byte there; None if it is the whole array.
      shape: its shape; of a random key that of its data.
      dtype: its numpy dtype.
      stored: the dtype in which it lies there: a single bool has a word of its own.
      unit: the bytes of a number of the array.
      key: the implementation of a random key, else None.
    """

    array: int
    start: int | None
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    stored: np.dtype[Any]
    unit: int
    key: Any = None

    @property
    def num_bytes(self) -> int:
        return math.prod(self.shape) * self.stored.itemsize

    def viewer(self) -> Callable[[list[bytearray], Packed], Any]:
        """A function that makes a numpy array of the leaf: memory of the packed arrays' copies, or its own array's."""
        index, start, shape, dtype, stored = self.array, self.start, self.shape, self.dtype, self.stored
        if start is None:
            return lambda copies, packed: _writable(packed[index])
        if stored == dtype and start % dtype.itemsize == 0:
            return lambda copies, packed: np.ndarray(shape, dtype, copies[index], start)
        return lambda copies, packed: np.ndarray(shape, stored, copies[index], start).astype(dtype)

    def reader(self) -> Callable[[Memories], Any]:
        """A function that makes a new array of the leaf from the arrays' memories on the host."""
        index, shape, dtype, stored = self.array, self.shape, self.dtype, self.stored
        if self.start is None:
            return lambda host: np.ndarray(shape, stored, bytearray(host[index]))
        items = slice(self.start // self.unit, (self.start + self.num_bytes) // self.unit)

        def read(host: Memories) -> Any:
            # In half the time of numpy's `copy`, which needs an array of the other memory first.
            array = np.ndarray(shape, stored, bytearray(host[index][items]))
            return array if stored is dtype else array.astype(dtype)

        return read


def reader(parts: Any) -> Callable[[Memories], Any]:
    """A function that makes new arrays of a tree's leaves, whose parts are given, from the memories on the host."""
    if isinstance(parts, Part):
        return parts.reader()
    leaves, structure = jax.tree.flatten(parts)
    readers = [part.reader() for part in leaves]
    return lambda host: structure.unflatten([read(host) for read in readers])


def viewer(parts: Any) -> Callable[[list[bytearray], Packed], Any]:
    """A function that makes numpy arrays, which can be written to, of a tree's leaves, whose parts are given.

    It takes what `Layout.copies` returned, and the packed arrays. Neither may be used afterwards.
    """
    leaves, structure = jax.tree.flatten(parts)
    viewers = [part.viewer() for part in leaves]
    return lambda copies, packed: structure.unflatten([view(copies, packed) for view in viewers])


class Layout:
    """Where each leaf of a pytree lies in its `Packed` arrays.

    Args:
      struct: a pytree of `jax.ShapeDtypeStruct`s whose dtypes have at most 32 bits.

    Attributes:
      leaves: the part of each leaf.
      parts: the same as a tree.
    """

    def __init__(self, struct: Any):
        leaves, self._structure = jax.tree.flatten(struct)
        parts = [_part(leaf) for leaf in leaves]
        kinds = sorted({part.array for part in parts if part.start is not None})  # 0 for words, 1 for bytes
        self._num_packed, large, ends = len(kinds), len(kinds), [0, 0]
        self.leaves: list[Part] = []
        for part in parts:
            if part.start is None:
                part, large = dataclasses.replace(part, array=large), large + 1
            else:
                kind, start = part.array, ends[part.array]
                ends[kind] += part.num_bytes
                part = dataclasses.replace(part, array=kinds.index(kind), start=start)
            self.leaves.append(part)
        self.parts = jax.tree.unflatten(self._structure, self.leaves)

    def pack(self, tree: Any) -> Packed:
        """Packs a tree with the types of the struct."""
        (packed,) = pack_all((self, tree))
        return packed

    def unpack(self, packed: Packed) -> Any:
        """The tree that was packed."""
        leaves = [packed[part.array] if part.start is None else _taken(packed, part) for part in self.leaves]
        return jax.tree.unflatten(self._structure, leaves)

    def flatten(self, tree: Any) -> list[jax.Array]:
        """What `join` makes the packed arrays of: for each leaf of a tree its numbers as they are stored, (n,)."""
        pairs = zip(jax.tree.leaves(tree), self.leaves, strict=True)
        return [leaf if part.start is None else _stored(leaf, part) for leaf, part in pairs]

    def join(self, flat: list[jax.Array]) -> Packed:
        """The packed arrays of what `flatten` returned."""
        pieces: list[list[jax.Array]] = [[] for _ in range(self._num_packed)]
        large: list[jax.Array] = []
        for leaf, part in zip(flat, self.leaves, strict=True):
            (large if part.start is None else pieces[part.array]).append(leaf)
        return (*map(jnp.concatenate, pieces), *large)

    def copies(self, packed: Packed) -> list[bytearray]:
        """Copies of the packed arrays on the host, without those of large leaves."""
        return list(map(bytearray, memories(packed[: self._num_packed])))


def pack_all(*pairs: tuple[Layout, Any]) -> tuple[Packed, ...]:
    """Packs trees, each by its layout.

    Of all of them together only the concatenations stay outside of the kernel: XLA then copies whole leaves instead of
    looking up the leaf of each element, in a fifth of the time for 16 observations of Pong.
    """
    layouts, trees = zip(*pairs, strict=True)

    def flatten(*trees: Any) -> list[Any]:
        return [layout.flatten(tree) for layout, tree in zip(layouts, trees, strict=True)]

    flat = one_kernel(flatten, *trees)
    return tuple(layout.join(leaves) for layout, leaves in zip(layouts, flat, strict=True))


def memories(packed: Packed) -> Memories:
    """The memories of the arrays on the host."""
    try:
        return list(map(memoryview, packed))  # pyright: ignore[reportArgumentType]  # half the time of `np.asarray`
    except Exception:  # they are not on the CPU
        return list(map(np.asarray, packed))


def _writable(array: jax.Array) -> np.ndarray[Any, Any]:
    """A numpy array of the same memory on the CPU, else a copy; only for arrays that nothing else uses.

    JAX lends its memory for reading only, because an array may be used by other computations.
    """
    (device,) = array.devices()
    return np.asarray(_Memory(array)) if device.platform == "cpu" else np.array(array)


class _Memory:
    """Lends numpy the memory of an array. What numpy makes of it keeps it, and so the array, alive."""

    __slots__ = ("__array_interface__", "_array")

    def __init__(self, array: jax.Array):
        self._array = array.block_until_ready()
        self.__array_interface__ = {
            "data": (array.unsafe_buffer_pointer(), False),
            "shape": array.shape,
            "typestr": np.dtype(array.dtype).str,
            "version": 3,
        }


def _part(leaf: Any) -> Part:
    key = None
    if trees.kind(leaf.dtype) == "key":
        found: list[Any] = []
        jax.eval_shape(lambda key: found.append(jax.random.key_impl(key)), leaf)  # a struct does not have it
        key, leaf = found[0], jax.eval_shape(jax.random.key_data, leaf)
    dtype = np.dtype(leaf.dtype)
    stored = np.dtype(np.uint32) if dtype == np.bool_ and not leaf.shape else dtype
    unit = 1 if math.prod(leaf.shape) * stored.itemsize % 4 else 4
    part = Part(int(unit == 1), 0, leaf.shape, dtype, stored, unit, key)
    return part if part.num_bytes < _LARGE or key is not None else dataclasses.replace(part, start=None)


def _stored(leaf: Any, part: Part) -> jax.Array:
    flat = jnp.asarray(leaf if part.key is None else jax.random.key_data(leaf)).reshape(-1)
    size = part.stored.itemsize
    if part.dtype == np.bool_:
        flat = flat.astype(_WORDS[size])
    if size < part.unit:
        flat = flat.reshape(-1, part.unit // size)
    return lax.bitcast_convert_type(flat, _WORDS[part.unit]).reshape(-1)


def _taken(packed: Packed, part: Part) -> jax.Array:
    start = part.start or 0
    flat = lax.slice_in_dim(packed[part.array], start // part.unit, (start + part.num_bytes) // part.unit)
    size = part.stored.itemsize
    if size > part.unit:
        flat = flat.reshape(-1, size // part.unit)
    values = lax.bitcast_convert_type(flat, _WORDS[size] if part.dtype == np.bool_ else part.stored)
    values = values.astype(part.dtype).reshape(part.shape)
    return values if part.key is None else jax.random.wrap_key_data(values, impl=part.key)
