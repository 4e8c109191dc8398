"""Lines of C++ that compute scalars of a graph."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence

import jax
import numpy as np
from envcore.typing import PyTree

from envcore_native import c
from envcore_native.arrays import Array
from envcore_native.c import name, text, type_name
from envcore_native.scalars import Graph, Scalar, Table, live

KEY_WORDS = 2


@dataclasses.dataclass(frozen=True)
class Leaf:
    """An array of what a program takes or returns, for one environment.

    Attributes:
      name: of the pointer in the source.
      array: of any shape.
      dtype: the type of its elements.
    """

    name: str
    array: Array
    dtype: np.dtype

    @functools.cached_property
    def values(self) -> list[Scalar]:
        """All its scalars."""
        return list(self.array.scalars().flat)

    @property
    def pointer(self) -> str:
        return f"{type_name(self.dtype)}* __restrict__ {self.name}"


def leaves(graph: Graph, kind: str, tree: PyTree, inputs: Callable[..., Array]) -> list[Leaf]:
    """Inputs for the leaves of a tree of types."""
    return [
        Leaf(f"{kind}{i}", inputs(graph, f"{kind}{i}", x.shape, x.dtype), x.dtype)
        for i, x in enumerate(jax.tree.leaves(tree))
    ]


class Body:
    """Lines of code that compute scalars, each at its first use."""

    def __init__(self, columns: Sequence[Scalar] = ()):
        self.lines: list[str] = []
        self.tables: dict[Table, str] = {}
        self._known: set[int] = set()
        for place, column in enumerate(columns):
            self._known.add(column.number)
            word = f"row[{KEY_WORDS + place}]"
            self.add(f"const {type_name(column.dtype)} {name(column)} = {c.bits(word, np.uint32, column.dtype)};")

    def add(self, line: str) -> None:
        self.lines.append("    " + line)

    def table_lines(self) -> list[str]:
        return [c.table(name, table.values, table.dtype) for table, name in self.tables.items()]

    def compute(self, scalars: Iterable[Scalar]) -> None:
        for scalar in live(list(scalars), self._known):
            if scalar.op not in ("input", "const"):
                self._declare(scalar)

    def store(self, leaf: Leaf) -> None:
        """Stores a step's leaf in [T, N, ...] in units of up to 16 bytes, each as soon as it is computed."""
        values, size = leaf.values, leaf.dtype.itemsize
        unit = next((n for n in (16, 8, 4) if len(values) * size % n == 0), 0) if size in (1, 4) else 0
        if not unit:
            for i, x in enumerate(values):
                self.compute([x])
                self.add(f"{leaf.name}[((size_t)t * count + n) * {len(values)} + {i}] = {text(x)};")
            return
        num_words, per_word = len(values) * size // 4, 4 // size
        is_long = num_words > 4  # of shorter ones, a warp's stores are contiguous
        for word in range(0, num_words, unit // 4):
            part = values[word * per_word :][: unit // size]
            self.compute(part)
            texts = [text(x) for x in part]
            words = [f"pack({', '.join(texts[i : i + 4])})" for i in range(0, len(texts), 4)]
            words = words if size == 1 else [c.bits(x, leaf.dtype, np.uint32) for x in texts]
            to = f"{'ROW' if is_long else 'DIRECT'}({leaf.name}, (size_t)t * count + n, {num_words}, {word})"
            self.add(f"store({to}, {', '.join(words)});")
            end = word + unit // 4
            if is_long and (end % 32 == 0 or end == num_words):
                start = (end - 1) // 32 * 32
                place = f"{leaf.name}, (size_t)t * count + first, {num_words}, {start}, {end - start}"
                self.add(f"FLUSH({unit // 4}, {place});")

    def _declare(self, scalar: Scalar) -> None:
        self.add(f"const {type_name(scalar.dtype)} {name(scalar)} = {self._expression(scalar)};")

    def _expression(self, scalar: Scalar) -> str:
        if scalar.op in ("load", "lookup"):
            of, place = scalar.args
            return f"{self._pointer(of)}[{text(place) if scalar.op == 'lookup' else place}]"
        return c.expression(scalar)

    def _pointer(self, of: str | Table) -> str:
        return of if isinstance(of, str) else self.tables.setdefault(of, f"table_{len(self.tables)}")
