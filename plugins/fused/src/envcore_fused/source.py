"""C++ from a graph of scalars: the same source is CUDA and code for a CPU."""

from __future__ import annotations

import dataclasses
import importlib.resources
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from envcore_fused.scalars import BY_ENVIRONMENT, BY_STEP, Scalar, Table, live

KEY_WORDS = 2


@dataclasses.dataclass(frozen=True)
class Leaf:
    """An array of what a program takes or returns, for one environment.

    Attributes:
      name: of the pointer in the source.
      values: the scalars, of any shape.
      dtype: their type.
    """

    name: str
    values: np.ndarray
    dtype: np.dtype

    @property
    def pointer(self) -> str:
        return f"{type_name(self.dtype)}* __restrict__ {self.name}"


def prelude(block: int) -> str:
    """What all generated code needs; `block` is the number of threads of a block."""
    return f"#define BLOCK {block}\n" + importlib.resources.files("envcore_fused").joinpath("arithmetic.h").read_text()


def shared_columns(values: Iterable[Scalar]) -> list[Scalar]:
    """What all environments share and the values are computed from: these become a table with a row a step."""
    values = list(values)
    used = [x for each in live(values, set()) if each.varies == BY_ENVIRONMENT for x in each.operands]
    columns = {x.number: x for x in (*values, *used) if x.varies == BY_STEP}
    return [columns[number] for number in sorted(columns)]


class Body:
    """Lines of code that compute scalars, each at its first use."""

    def __init__(self, columns: Sequence[Scalar] = ()):
        self.lines: list[str] = []
        self.tables: dict[Table, str] = {}
        self._known: set[int] = set()
        for place, column in enumerate(columns):
            self._known.add(column.number)
            self.add(f"const {type_name(column.dtype)} {_name(column)} = {_unpacked(place, column.dtype)};")

    def add(self, line: str) -> None:
        self.lines.append("    " + line)

    def compute(self, scalars: Iterable[Scalar]) -> None:
        for scalar in live(list(scalars), self._known):
            if scalar.op not in ("const", "input"):
                self.add(f"const {type_name(scalar.dtype)} {_name(scalar)} = {self._expression(scalar)};")

    def uses(self, scalar: Scalar) -> bool:
        return scalar.number in self._known

    def store(self, leaf: Leaf) -> None:
        """Stores a step's leaf in [T, N, ...] in units of up to 16 bytes, each as soon as it is computed."""
        values, size = list(leaf.values.flat), leaf.dtype.itemsize
        unit = next((n for n in (16, 8, 4) if len(values) * size % n == 0), 0) if size in (1, 4) else 0
        if not unit:
            for i, x in enumerate(values):
                self.compute([x])
                self.add(f"{leaf.name}[((size_t)t * count + n) * {len(values)} + {i}] = {_text(x)};")
            return
        num_words, per_word = len(values) * size // 4, 4 // size
        is_long = num_words > 4  # of shorter ones, a warp's stores are contiguous
        for word in range(0, num_words, unit // 4):
            part = values[word * per_word :][: unit // size]
            self.compute(part)
            texts = [_text(x) for x in part]
            words = [f"pack({', '.join(texts[i : i + 4])})" for i in range(0, len(texts), 4)]
            words = words if size == 1 else [f"op_bitcast<uint32>({x})" for x in texts]
            to = f"{'ROW' if is_long else 'DIRECT'}({leaf.name}, (size_t)t * count + n, {num_words}, {word})"
            self.add(f"store({to}, {', '.join(words)});")
            end = word + unit // 4
            if is_long and (end % 32 == 0 or end == num_words):
                start = (end - 1) // 32 * 32
                place = f"{leaf.name}, (size_t)t * count + first, {num_words}, {start}, {end - start}"
                self.add(f"FLUSH({unit // 4}, {place});")

    def _expression(self, scalar: Scalar) -> str:
        if scalar.op == "lookup":
            table, place = scalar.args
            name = self.tables.setdefault(table, f"table_{len(self.tables)}")
            return f"{name}[{_text(place)}]"
        types = [f"<{type_name(x)}>" for x in scalar.args if isinstance(x, np.dtype)]
        return f"{scalar.op}{''.join(types)}({', '.join(_text(x) for x in scalar.operands)})"


def table_function(columns: Sequence[Scalar], key: Sequence[Scalar], next_key: Sequence[Scalar]) -> str:
    """A function of one block: its first thread derives the key of every step, then all compute the table's rows.

    A row has the words of the step's key, then the columns.
    """
    chain, row, width = Body(), Body(), row_width(columns)
    chain.compute(next_key)
    row.compute(columns)
    words = list(enumerate(key))
    return "\n".join(
        [
            "FN void table(int thread, int num_steps, const uint32* key, uint32* rows, uint32* last_key) {",
            "  if (thread == 0) {",
            *(f"    uint32 {_text(x)} = key[{i}];" for i, x in words),
            f"    for (int t = 0; t < num_steps; ++t) {{ uint32* const row = rows + (size_t)t * {width};",
            *(f"    row[{i}] = {_text(x)};" for i, x in words),
            *chain.lines,
            *(f"    const uint32 next_{i} = {_text(x)};" for i, x in enumerate(next_key)),
            *(f"    {_text(x)} = next_{i};" for i, x in words),
            "    }",
            *(f"    last_key[{i}] = {_text(x)};" for i, x in words),
            "  }",
            "  SYNC_BLOCK",
            f"  for (int t = thread; t < num_steps; t += BLOCK) {{ uint32* const row = rows + (size_t)t * {width};",
            *(f"    const uint32 {_text(x)} = row[{i}];" for i, x in words),
            *row.lines,
            *(f"    row[{place}] = {_packed(x)};" for place, x in enumerate(columns, len(words))),
            "  }",
            "}",
        ]
    )


def row_width(columns: Sequence[Scalar]) -> int:
    return KEY_WORDS + len(columns)


def rollout_function(
    columns: Sequence[Scalar],
    state: Sequence[Leaf],
    fixed: Sequence[Leaf],
    next_state: Sequence[Leaf],
    stacked: Sequence[Leaf],
) -> str:
    """A function of one environment: a loop of steps, which stores `stacked` of each, and at the end the state."""
    body = Body(columns)
    for leaf in stacked:
        body.store(leaf)
    old, new = _scalars(state), _scalars(next_state)
    body.compute(new)
    changed = [(a, b) for a, b in zip(old, new, strict=True) if a is not b]
    for a, b in changed:
        body.add(f"const {type_name(a.dtype)} next_{_text(a)} = {_text(b)};")
    for a, _ in changed:
        body.add(f"{_text(a)} = next_{_text(a)};")
    begins, ends = [], []
    for leaf, end in zip(state, next_state, strict=True):
        for i, x in enumerate(leaf.values.flat):
            place = f"[(size_t)n * {leaf.values.size} + {i}]"
            begins.append(f"  {type_name(x.dtype)} {_text(x)} = {leaf.name}{place};")
            ends.append(f"  {end.name}{place} = {_text(x)};")
    for leaf in fixed:
        used = [(i, x) for i, x in enumerate(leaf.values.flat) if body.uses(x)]
        begins += [f"  const {type_name(x.dtype)} {_text(x)} = {leaf.name}[{i}];" for i, x in used]
    pointers = [f"const {x.pointer}" for x in (*state, *fixed)] + [x.pointer for x in (*next_state, *stacked)]
    return "\n".join(
        [
            *_tables(body),
            "FN void rollout(int thread, int count, int num_steps, const uint32* __restrict__ row,",
            f"                {', '.join(pointers)}) {{",
            "  const int n = thread < count ? thread : count - 1;",
            "  STAGE",
            *begins,
            f"  for (int t = 0; t < num_steps; ++t, row += {row_width(columns)}) {{",
            *body.lines,
            "  }",
            *ends,
            "}",
        ]
    )


def type_name(dtype: Any) -> str:
    return np.dtype(dtype).name


def _scalars(leaves: Sequence[Leaf]) -> list[Scalar]:
    return [x for leaf in leaves for x in leaf.values.flat]


def _tables(body: Body) -> list[str]:
    return [
        f"TABLE {type_name(table.dtype)} {name}[] = {{{', '.join(_number(x, table.dtype) for x in table.values)}}};"
        for table, name in body.tables.items()
    ]


def _packed(scalar: Scalar) -> str:
    """A scalar as a word."""
    return f"op_bitcast<uint32>({_text(scalar)})" if scalar.dtype.itemsize == 4 else f"(uint32)({_text(scalar)})"


def _unpacked(place: int, dtype: np.dtype) -> str:
    word = f"row[{KEY_WORDS + place}]"
    return f"op_bitcast<{type_name(dtype)}>({word})" if dtype.itemsize == 4 else f"({type_name(dtype)}){word}"


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
        return f"({type_name(dtype)}){int(value)}{'ll' if dtype.itemsize == 8 or int(value) == -(2**31) else ''}"
    if math.isfinite(value):
        return f"{float(value).hex()}f"
    return f"op_bitcast<float32>((uint32){value.view(np.uint32)})"
