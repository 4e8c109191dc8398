"""Lines of C for one row of a batch: large arrays are computed in loops, and what all rows share is computed before."""

from __future__ import annotations

from typing import Any

import numpy as np

from envcore_native.arrays import Array, Buffer, Dense
from envcore_native.body import Body, Leaf
from envcore_native.c import name, text, type_name
from envcore_native.scalars import BY_ENVIRONMENT, Graph, Scalar, Table, live

_MOST_IN_A_ROW = 4  # elements of a last axis without a loop of its own


class RowBody(Body):
    """Lines that compute scalars and store arrays.

    Attributes:
      lines: for each row.
      shared: before the loop over rows.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self._graph = graph
        self.shared: list[str] = []
        self._buffers: dict[Buffer, str] = {}

    def store_shared(self, leaf: Leaf) -> None:
        """Stores an array that all rows share."""
        self.compute(leaf.values)
        self.shared += [f"  {leaf.name}[{place}] = {text(x)};" for place, x in enumerate(leaf.values)]

    def store_array(self, to: str, array: Array, most_unrolled: int) -> None:
        """Stores an array, its elements in a row; more than that many are computed in a loop."""
        array = array.reshaped or array
        if not array.size:
            return
        if isinstance(array, Dense) or array.size <= most_unrolled:
            for place, scalar in enumerate(array.scalars().flat):
                self.compute([scalar])
                self.add(f"{to}[{place}] = {text(scalar)};")
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
                self._pointer(scalar.args[0])  # no other loop may stand inside this one
        inner: list[list[Scalar]] = [[] for _ in variables]
        for scalar in needed:
            if scalar.loops and scalar.op != "loop":
                inner[max(variables.index(x) for x in scalar.loops)].append(scalar)
        for depth, (variable, scalars) in enumerate(zip(variables, inner, strict=True)):
            i, end = name(variable), self._graph.range_of(variable)[1] + 1
            self.add(f"{'  ' * depth}for (int32 {i} = 0; {i} < {end}; ++{i}) {{")
            for scalar in scalars:
                self._declare(scalar, depth + 1)
        for place, scalar in stores:
            self.add(f"{'  ' * len(variables)}{to}[{text(place)}] = {text(scalar)};")
        self.add("}" * len(variables))

    def _declare(self, scalar: Scalar, depth: int = 0) -> None:
        line = f"const {type_name(scalar.dtype)} {name(scalar)} = {self._expression(scalar)};"
        if scalar.varies < BY_ENVIRONMENT and not scalar.loops:
            self.shared.append(f"  {line}")
        else:
            self.add("  " * depth + line)

    def _pointer(self, of: Any) -> str:
        if isinstance(of, str | Table):
            return super()._pointer(of)
        if of not in self._buffers:
            self._buffers[of] = buffer = f"buffer_{len(self._buffers)}"
            self.add(f"{type_name(of.dtype)} {buffer}[{of.array.size}];")
            self.store_array(buffer, of.array, 0)
        return self._buffers[of]
