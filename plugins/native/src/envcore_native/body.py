"""Writes lines of C that compute scalars and store arrays."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from envcore.errors import InvalidArgumentError

from envcore_native import c
from envcore_native.arrays import Array, Buffer, Dense, Leaf
from envcore_native.c import name, text, type_name
from envcore_native.scalars import BY_ENVIRONMENT, Graph, Scalar, Table, live

_MOST_STORED = 2**22  # bytes of an array, which is on the stack
_MOST_IN_A_ROW = 4  # elements of a last axis that are written without a loop


class Body:
    """Lines of code that compute each scalar at its first use and store it with `put(array, place, scalar)`.

    Args:
      graph: the graph of the scalars.
      known: scalars that are computed already.

    Attributes:
      lines: code that runs for each row.
      shared: code that runs once, before the rows.
      tables: declarations of constant tables, which come first.
    """

    def __init__(self, graph: Graph, known: Iterable[Scalar] = ()) -> None:
        self._graph = graph
        self._known = {scalar.number for scalar in known}
        self._pointers: dict[Table | Buffer, str] = {}
        self.lines: list[str] = []
        self.shared: list[str] = []
        self.tables: list[str] = []

    def compute(self, scalars: Iterable[Scalar]) -> None:
        for scalar in live(list(scalars), self._known):
            if scalar.op not in ("input", "const"):
                self._declare(scalar)

    def store(self, leaf: Leaf) -> None:
        """Stores an array of one row. Loops compute the elements of a large array."""
        self._store(leaf.name, leaf.array, self._graph.most_unrolled)

    def _store(self, to: str, array: Array, most_unrolled: int | None) -> None:
        array = array.reshaped or array
        if isinstance(array, Dense) or most_unrolled is None or array.size <= most_unrolled:
            for place, scalar in enumerate(array.scalars().flat):
                self.compute([scalar])
                self.lines.append(f"put({to}, {place}, {text(scalar)});")
            return
        last = array.shape[-1] if array.shape[-1] <= _MOST_IN_A_ROW and array.ndim > 1 else 1
        sizes = array.shape[:-1] if last > 1 else array.shape
        index = tuple(self._graph.loop(size) if size > 1 else 0 for size in sizes)
        ends = [(*index, i) for i in range(last)] if last > 1 else [index]
        stores = []
        for end in ends:
            place = self._graph.combine(end, array.shape)
            stores.append((self._graph.constant(place, np.int32) if isinstance(place, int) else place, array.at(end)))
        self._loop([x for x in index if isinstance(x, Scalar)], to, stores)

    def _loop(self, variables: list[Scalar], to: str, stores: list[tuple[Scalar, Scalar]]) -> None:
        needed = live([scalar for pair in stores for scalar in pair], set(self._known))
        self.compute(x for x in needed if not x.loops)
        for scalar in needed:
            if scalar.op == "lookup" and isinstance(scalar.args[0], Buffer):
                self._pointer(scalar.args[0])  # its loop must come before this one
        inner: list[list[Scalar]] = [[] for _ in variables]
        for scalar in needed:
            if scalar.loops and scalar.op != "loop":
                inner[max(variables.index(x) for x in scalar.loops)].append(scalar)
        for variable, scalars in zip(variables, inner, strict=True):
            i, end = name(variable), self._graph.range_of(variable)[1] + 1
            self.lines.append(f"for (int32 {i} = 0; {i} < {end}; ++{i}) {{")
            for scalar in scalars:
                self._declare(scalar)
        self.lines += [f"put({to}, {text(place)}, {text(scalar)});" for place, scalar in stores]
        self.lines.append("}" * len(variables))

    def _declare(self, scalar: Scalar) -> None:
        if scalar.op == "lookup":
            value = f"{self._pointer(scalar.args[0])}[{text(scalar.args[1])}]"
        else:
            value = c.expression(scalar)
        lines = self.shared if scalar.varies < BY_ENVIRONMENT and not scalar.loops else self.lines
        lines.append(f"const {type_name(scalar.dtype)} {name(scalar)} = {value};")

    def _pointer(self, of: str | Table | Buffer) -> str:
        if isinstance(of, str):
            return of
        if of not in self._pointers:
            self._pointers[of] = pointer = f"memory_{len(self._pointers)}"
            if isinstance(of, Table):
                self.tables.append(c.table(pointer, np.frombuffer(of.content, of.dtype), of.dtype))
            elif of.array.size * of.dtype.itemsize > _MOST_STORED:
                raise InvalidArgumentError(f"envcore_native does not support arrays of over {_MOST_STORED:,} bytes.")
            else:
                self.lines.append(f"{type_name(of.dtype)} {pointer}[{of.array.size}];")
                self._store(pointer, of.array, 0)
        return self._pointers[of]
