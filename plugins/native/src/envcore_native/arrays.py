"""Lazy arrays: functions of an index, so that a loop can compute their elements."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from envcore.typing import PyTree

from envcore_native.scalars import BY_ENVIRONMENT, Graph, Key, Scalar, Table, check_dtype

Index = tuple[Any, ...]
"""One number or int32 scalar per axis, from 0 to the length of the axis minus 1."""


class Array:
    """A lazy array of scalars. Each scalar is made on first use.

    Args:
      graph: the graph to add scalars to.
      shape: the shape.
      get: a function of an `Index` that returns a scalar or a `Key`.
      computes: whether elements are computed. Pass False if they are only read from elsewhere.
      reshaped: the array that this one reshapes, with the same elements in the same order.
    """

    def __init__(
        self,
        graph: Graph,
        shape: Sequence[int],
        get: Callable[[Index], Any],
        *,
        computes: bool = True,
        reshaped: Array | None = None,
    ):
        self.graph, self.shape, self.computes, self._get, self.reshaped = graph, tuple(shape), computes, get, reshaped
        self._found: dict[Index, Any] = {}
        self.depth = 0  # length of the chain of lazy arrays that this one depends on

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def at(self, index: Index) -> Any:
        """The scalar at an index."""
        if index not in self._found:
            self._found[index] = self._stored.at(index) if self._is_read_in_a_loop(index) else self._get(index)
        return self._found[index]

    def scalars(self) -> np.ndarray:
        """All scalars as a numpy array."""
        result = np.empty(self.shape, object)
        for index in np.ndindex(self.shape):
            result[index] = self.at(index)
        return result

    def _is_read_in_a_loop(self, index: Index) -> bool:
        """Whether a loop reads computed elements at irregular indices. Storing the array then avoids repeated work."""
        if not self.computes:
            return False
        parts = [self.graph.parts_of(x)[0] for x in index]
        return any(x is not None and x.loops and x not in self.graph.affine for x in parts)

    @property
    def _stored(self) -> Array:
        """The same array, stored in memory."""
        if not hasattr(self, "_memory"):
            self._memory = stored(self)
        return self._memory


class Dense(Array):
    """An array whose scalars are all made already."""

    def __init__(self, graph: Graph, scalars: np.ndarray):
        super().__init__(graph, scalars.shape, self._pick, computes=False)
        self._scalars = scalars

    def scalars(self) -> np.ndarray:
        return self._scalars

    def at(self, index: Index) -> Any:
        if all(type(x) is int for x in index):
            return self._scalars[index]
        return super().at(index)

    def _pick(self, index: Index) -> Any:
        """The element at an index known only at run time, from a table, selects or memory."""
        graph, axes, spans = self.graph, [], []
        for axis, each in enumerate(index):
            low, high = graph.range_of(each)
            low, high = max(low, 0), min(high, self.shape[axis] - 1)
            spans.append(slice(low, high + 1))
            if low < high:
                axes.append(axis)
        choices = self._scalars[tuple(spans)].reshape([spans[i].stop - spans[i].start for i in axes])
        if all(x is choices.flat[0] for x in choices.flat):
            return choices.flat[0]
        place = tuple(graph.add(index[axis], -spans[axis].start) for axis in axes)
        if all(getattr(x, "is_constant", False) for x in choices.flat):
            return constants(graph, each_of(lambda x: x.args[0], choices).astype(choices.flat[0].dtype)).at(place)
        if graph.most_unrolled is not None and choices.size > 4 and not isinstance(choices.flat[0], Key):
            return self._stored.at(index)
        return _choose(graph, choices, place)


def _choose(graph: Graph, choices: Any, index: Index) -> Any:
    """Selects the element of `choices` at an index."""
    for axis, (base, offset) in reversed(list(enumerate(map(graph.parts_of, index)))):
        rows = list(np.moveaxis(choices, axis, 0))
        choices = rows[0]
        for number, row in enumerate(rows[1:], 1):
            pick = functools.partial(select, graph, is_equal(graph, base, number - offset))
            choices = each_of(pick, choices, row)
    return choices


@dataclasses.dataclass(frozen=True, eq=False)
class Buffer:
    """A computed array that the program stores in memory, to read it at indices known only at run time."""

    array: Array
    dtype: np.dtype


def lookup(graph: Graph, dtype: Any, of: str | Table | Buffer, shape: Sequence[int], index: Index) -> Scalar:
    """The scalar at an index of an array in memory, in row-major order.

    Args:
      graph: the graph to add the scalar to.
      dtype: the dtype of the scalar.
      of: the name of an array of the program, a table of constants, or a computed array.
      shape: the shape of the array.
      index: numbers or scalars.
    """
    place = graph.combine(index, shape)
    return graph.apply("lookup", dtype, of, graph.constant(place, np.int32) if isinstance(place, int) else place)


def in_memory(graph: Graph, of: str | Buffer, shape: Sequence[int], dtype: Any) -> Array:
    """An array that is read from memory."""
    return Array(graph, shape, functools.partial(lookup, graph, dtype, of, shape), computes=False)


def stored(array: Array) -> Array:
    """Stores a computed array in memory with a separate loop."""
    dtype = array.at((0,) * array.ndim).dtype
    return in_memory(array.graph, Buffer(array, dtype), array.shape, dtype)


def inputs(graph: Graph, name: str, shape: Sequence[int], dtype: Any, varies: int = BY_ENVIRONMENT) -> Array:
    """An array of input scalars.

    Raises:
      InvalidArgumentError: the dtype is not supported.
    """
    check_dtype(dtype)
    array = np.empty(shape, object)
    for place, index in enumerate(np.ndindex(*shape)):
        array[index] = graph.input(f"{name}_{place}", dtype, varies)
    return Dense(graph, array)


def fixed(graph: Graph, name: str, shape: Sequence[int], dtype: Any) -> Array:
    """An array of inputs in memory. Elements are read where they are needed.

    Raises:
      InvalidArgumentError: the dtype is not supported.
    """
    check_dtype(dtype)
    return in_memory(graph, name, shape, dtype)


@dataclasses.dataclass(frozen=True)
class Leaf:
    """An input or output array of a program, for one environment.

    Attributes:
      name: name of the pointer in the source.
      array: the array, of any shape.
      dtype: dtype of the elements.
    """

    name: str
    array: Array
    dtype: np.dtype

    @functools.cached_property
    def values(self) -> list[Scalar]:
        """All scalars, in row-major order."""
        return list(self.array.scalars().flat)


def leaves(graph: Graph, kind: str, tree: PyTree, inputs: Callable[..., Array]) -> list[Leaf]:
    """Makes inputs for the leaves of a pytree of types."""
    return [
        Leaf(f"{kind}{i}", inputs(graph, f"{kind}{i}", x.shape, x.dtype), x.dtype)
        for i, x in enumerate(jax.tree.leaves(tree))
    ]


def constants(graph: Graph, value: np.ndarray) -> Array:
    """An array of constants."""
    value = np.asarray(value)

    def get(index: Index) -> Any:
        if all(type(x) is int for x in index):
            return graph.constant(value[index], value.dtype)
        axes = [axis for axis, x in enumerate(index) if type(x) is not int]
        part = value[tuple(x if type(x) is int else slice(None) for x in index)]
        for axis in reversed(range(part.ndim)):  # store equal rows of a table once
            if part.tobytes() == np.broadcast_to(part.take([0], axis), part.shape).tobytes():  # 0 is not -0
                part = part.take(0, axis)
                del axes[axis]
        if not axes:
            return graph.constant(part[()], value.dtype)
        places = tuple(index[axis] for axis in axes)
        base, offset = graph.parts_of(places[0])
        if len(places) == 1 and value.dtype.kind in "iu" and len(part) > 1:
            step = int(part[1]) - int(part[0])
            if np.array_equal(part.astype(np.int64), int(part[0]) + step * np.arange(len(part))):
                return _line(graph, value.dtype, base, int(part[0]) + step * offset, step)
        if part.size <= graph.most_selects:
            return _choose(graph, each_of(lambda x: graph.constant(x, value.dtype), part), places)
        return lookup(graph, value.dtype, Table(value.dtype, part.tobytes()), part.shape, places)

    return Array(graph, value.shape, get, computes=False)


def _line(graph: Graph, dtype: np.dtype, base: Any, start: int, step: int) -> Scalar:
    index = base if dtype == np.int32 else graph.apply("op_convert", dtype, dtype, base)
    if step != 1:
        index = graph.apply("op_mul", dtype, index, graph.constant(np.int64(step).astype(dtype), dtype))
    if start == 0 or (step == 1 and dtype == np.int32):
        return graph.add(index, start)
    return graph.apply("op_add", dtype, index, graph.constant(np.int64(start).astype(dtype), dtype))


# Selections.


def each_of(fun: Callable[..., Any], *arrays: Any) -> Any:
    return np.frompyfunc(fun, len(arrays), 1)(*arrays)


def is_equal(graph: Graph, scalar: Any, number: int) -> Scalar:
    if scalar.is_constant:
        return graph.constant(scalar.args[0] == number, bool)
    return graph.apply("op_eq", bool, scalar, graph.constant(number, scalar.dtype))


def both(graph: Graph, *flags: bool | Scalar) -> Scalar:
    """Whether all of the flags are true."""
    true = graph.constant(True, bool)
    result = true
    for flag in flags:
        flag = graph.constant(flag, bool) if isinstance(flag, bool) else flag
        if flag.is_constant and not flag.args[0]:
            return flag
        if flag is not true:
            result = flag if result is true else graph.apply("op_and", bool, result, flag)
    return result


def select(graph: Graph, which: Scalar, no: Any, yes: Any) -> Any:
    if isinstance(no, Key):
        return Key(tuple(select(graph, which, *words) for words in zip(no.words, yes.words, strict=True)))
    if which.is_constant:
        return yes if which.args[0] else no
    # A conversion of the bool is simpler than a select.
    if no.dtype != bool and no is graph.constant(0, no.dtype) and yes is graph.constant(1, no.dtype):
        return graph.apply("op_convert", no.dtype, no.dtype, which)
    return no if no is yes else graph.apply("op_select", no.dtype, which, no, yes)


# Random keys.


def keys_of(words: Array) -> Array:
    """Makes an array of keys from an array of words with one axis more."""
    return Array(words.graph, words.shape[:-1], lambda index: Key(tuple(words.at((*index, i)) for i in (0, 1))))


def words_of(keys: Array) -> Array:
    """The inverse of `keys_of`."""

    def get(index: Index) -> Scalar:
        key, last = keys.at(index[:-1]), index[-1]
        if isinstance(last, int):
            return key.words[last]
        return select(keys.graph, is_equal(keys.graph, last, 1), *key.words)

    return Array(keys.graph, (*keys.shape, 2), get, computes=False)
