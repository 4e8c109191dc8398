"""C++ from a graph of scalars: the same source is a CUDA kernel and a function for a CPU."""

from __future__ import annotations

import dataclasses
import importlib.resources
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from envcore_fused.scalars import BY_ENVIRONMENT, BY_STEP, Scalar, Table, live


@dataclasses.dataclass(frozen=True)
class Leaf:
    """An array of a program's state or results, for one environment.

    Attributes:
      name: of the pointer in the source.
      values: the scalars, of any shape.
    """

    name: str
    values: np.ndarray

    @property
    def dtype(self) -> np.dtype:
        return self.values.flat[0].dtype

    @property
    def pointer(self) -> str:
        return f"{_type(self.dtype)}* __restrict__ {self.name}"


def prelude() -> str:
    return importlib.resources.files("envcore_fused").joinpath("arithmetic.h").read_text()


def shared_columns(values: Iterable[Scalar]) -> list[Scalar]:
    """What all environments share and the values are computed from: these become a table with a row a step."""
    values = list(values)
    used = [x for each in live(values, set()) if each.varies == BY_ENVIRONMENT for x in each.operands]
    columns = {x.number: x for x in (*values, *used) if x.varies == BY_STEP}
    return [columns[number] for number in sorted(columns)]


class Body:
    """Lines of code that compute scalars, each at its first use."""

    def __init__(self, indent: str, columns: Sequence[Scalar] = ()):
        self.lines: list[str] = []
        self.tables: dict[Table, str] = {}
        self._indent = indent
        self._known: set[int] = set()
        for place, column in enumerate(columns):
            assert column.dtype == np.uint32, "only words of keys are shared"
            self._known.add(column.number)
            self.add(f"const uint32 {_name(column)} = row[{place}];")

    def add(self, line: str) -> None:
        self.lines.append(self._indent + line)

    def compute(self, scalars: Iterable[Scalar]) -> None:
        for scalar in live(list(scalars), self._known):
            if scalar.op not in ("const", "input"):
                self.add(f"const {_type(scalar.dtype)} {_name(scalar)} = {self._expression(scalar)};")

    def store(self, leaf: Leaf, place: str) -> None:
        """Stores a leaf in units of up to 16 bytes, each as soon as it is computed."""
        values, size = list(leaf.values.flat), leaf.dtype.itemsize
        unit = next((n for n in (16, 8, 4) if len(values) * size % n == 0), 0) if size in (1, 4) else 0
        if not unit:
            for i, x in enumerate(values):
                self.compute([x])
                self.add(f"{leaf.name}[{place} * {len(values)} + {i}] = {_text(x)};")
            return
        num_words, per_word = len(values) * size // 4, 4 // size
        is_long = num_words > 4  # of shorter ones, a warp's stores are contiguous
        for word in range(0, num_words, unit // 4):
            part = values[word * per_word :][: unit // size]
            self.compute(part)
            texts = [_text(x) for x in part]
            words = [f"pack({', '.join(texts[i : i + 4])})" for i in range(0, len(texts), 4)]
            words = words if size == 1 else [f"op_bitcast<uint32>({x})" for x in texts]
            to = f"{'ROW' if is_long else 'DIRECT'}({leaf.name}, {place}, {num_words}, {word})"
            self.add(f"store({to}, {', '.join(words)});")
            end = word + unit // 4
            if is_long and (end % 32 == 0 or end == num_words):
                start = (end - 1) // 32 * 32
                self.add(f"FLUSH({unit // 4}, {leaf.name}, {place}, {num_words}, {start}, {end - start});")

    def _expression(self, scalar: Scalar) -> str:
        if scalar.op == "lookup":
            table, place = scalar.args
            name = self.tables.setdefault(table, f"table_{len(self.tables)}")
            return f"{name}[{_text(place)}]"
        types = [f"<{_type(x)}>" for x in scalar.args if isinstance(x, np.dtype)]
        return f"{scalar.op}{''.join(types)}({', '.join(_text(x) for x in scalar.operands)})"


def table_kernel(name: str, columns: Sequence[Scalar], key: Iterable[Scalar], next_key: Iterable[Scalar]) -> str:
    """One thread computes the table from the key, and leaves the last key in its place."""
    body, key, next_key = Body("    "), list(key), list(next_key)
    body.compute([*columns, *next_key])
    stores = [f"    table[{place}] = {_text(x)};" for place, x in enumerate(columns)]
    loads = [f"  uint32 {_text(x)} = key[{i}];" for i, x in enumerate(key)]
    steps = [f"    const uint32 next_{i} = {_text(x)};" for i, x in enumerate(next_key)]
    moves = [f"    {_text(x)} = next_{i};" for i, x in enumerate(key)]
    back = [f"  key[{i}] = {_text(x)};" for i, x in enumerate(key)]
    return "\n".join(
        [
            f"KERNEL {name}(uint32* __restrict__ key, uint32* __restrict__ table, int num_steps) {{",
            *loads,
            f"  for (int t = 0; t < num_steps; ++t, table += {len(columns)}) {{",
            *body.lines,
            *stores,
            *steps,
            *moves,
            "  }",
            *back,
            "}",
        ]
    )


def start_kernel(columns: Sequence[Scalar], state: Sequence[Leaf]) -> str:
    """Writes the first state of every environment."""
    body = Body("    ", columns)
    for leaf in state:
        body.store(leaf, "n")
    return "\n".join(
        [
            *_tables(body),
            f"KERNEL start(const uint32* __restrict__ row, int count, {', '.join(x.pointer for x in state)}) {{",
            "  FOR_EACH_ENVIRONMENT(n, count) {",
            "    STAGE",
            *body.lines,
            "  }",
            "}",
        ]
    )


def rollout_kernel(
    columns: Sequence[Scalar],
    state: Sequence[Leaf],
    next_state: Sequence[Leaf],
    stacked: Sequence[Leaf],
    totals: Sequence[Leaf],
) -> str:
    """A loop of steps: stores every step's `stacked` in [T, N, ...] and the sums of `totals` in [N]."""
    body = Body("      ", columns)
    for leaf in stacked:
        body.store(leaf, "((size_t)t * count + n)")
    old = [x for leaf in state for x in leaf.values.flat]
    new = [x for leaf in next_state for x in leaf.values.flat]
    body.compute(new)
    for leaf in totals:
        body.compute(leaf.values.flat)
        for i, x in enumerate(leaf.values.flat):
            body.add(f"{leaf.name}_{i} = op_add({leaf.name}_{i}, {_text(x)});")
    changed = [(a, b) for a, b in zip(old, new, strict=True) if a is not b]
    for a, b in changed:
        body.add(f"const {_type(a.dtype)} next_{_text(a)} = {_text(b)};")
    for a, _ in changed:
        body.add(f"{_text(a)} = next_{_text(a)};")
    ends, begins = [], []
    for leaf in state:
        size = leaf.values.size
        for i, x in enumerate(leaf.values.flat):
            begins.append(f"    {_type(x.dtype)} {_text(x)} = {leaf.name}[(size_t)n * {size} + {i}];")
            ends.append(f"    {leaf.name}[(size_t)n * {size} + {i}] = {_text(x)};")
    for leaf in totals:
        size = leaf.values.size
        for i in range(size):
            begins.append(f"    {_type(leaf.dtype)} {leaf.name}_{i} = 0;")
            ends.append(f"    {leaf.name}[(size_t)n * {size} + {i}] = {leaf.name}_{i};")
    pointers = ", ".join(x.pointer for x in (*state, *stacked, *totals))
    return "\n".join(
        [
            *_tables(body),
            f"KERNEL rollout(const uint32* __restrict__ table, int count, int num_steps, {pointers}) {{",
            "  FOR_EACH_ENVIRONMENT(n, count) {",
            "    STAGE",
            *begins,
            "    const uint32* row = table;",
            f"    for (int t = 0; t < num_steps; ++t, row += {len(columns)}) {{",
            *body.lines,
            "    }",
            *ends,
            "  }",
            "}",
        ]
    )


def _tables(body: Body) -> list[str]:
    return [
        f"TABLE {_type(table.dtype)} {name}[] = {{{', '.join(_number(x, table.dtype) for x in table.values)}}};"
        for table, name in body.tables.items()
    ]


def _type(dtype: np.dtype) -> str:
    return np.dtype(dtype).name


def _name(scalar: Scalar) -> str:
    return f"v{scalar.number}"


def _text(scalar: Scalar) -> str:
    if scalar.op == "const":
        return _number(scalar.args[0], scalar.dtype)
    return scalar.args[0] if scalar.op == "input" else _name(scalar)


def _number(value: Any, dtype: np.dtype) -> str:
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind != "f":
        return f"({_type(dtype)}){int(value)}{'ll' if dtype.itemsize == 8 or int(value) == -(2**31) else ''}"
    if math.isfinite(value):
        return f"{float(value).hex()}f"
    return f"op_bitcast<float32>((uint32){value.view(np.uint32)})"
