"""C++ from a graph of scalars: the same source is CUDA and code for a CPU."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from envcore_native import c
from envcore_native.arrays import Dense
from envcore_native.body import KEY_WORDS, Body, Leaf
from envcore_native.c import text, type_name
from envcore_native.scalars import BY_ENVIRONMENT, BY_STEP, Scalar, live


def prelude(block: int) -> str:
    """What all generated code needs, for blocks of that many threads."""
    return f"#define BLOCK {block}\n{c.header('arithmetic.h')}\n{c.header('memory.h')}"


def shared_columns(values: Iterable[Scalar]) -> list[Scalar]:
    """What all environments share and the values are computed from: these become a table with a row a step."""
    values = list(values)
    used = [x for each in live(values, set()) if each.varies == BY_ENVIRONMENT for x in each.operands]
    columns = {x.number: x for x in (*values, *used) if x.varies == BY_STEP}
    return [columns[number] for number in sorted(columns)]


def table_function(columns: Sequence[Scalar], key: Sequence[Scalar], next_key: Sequence[Scalar]) -> str:
    """The function `table` of `table.h`, after which a row has the words of a step's key, then the columns."""
    chain, row = Body(), Body()
    chain.compute(next_key)
    row.compute(columns)
    words = [f"  const uint32 {text(x)} = row[{i}];" for i, x in enumerate(key)]
    stores = [f"  row[{i}] = {c.bits(text(x), x.dtype, np.uint32)};" for i, x in enumerate(columns, KEY_WORDS)]
    return "\n".join(
        [
            f"constexpr int KEY_WORDS = {KEY_WORDS}, WIDTH = {row_width(columns)};",
            "FN void next_key(const uint32* row, uint32* next) {",
            *words,
            *chain.lines,
            *(f"  next[{i}] = {text(x)};" for i, x in enumerate(next_key)),
            "}",
            "FN void compute_row(uint32* row) {",
            *words,
            *row.lines,
            *stores,
            "}",
            c.header("table.h"),
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
    """A function of one environment: a loop of steps, which stores `stacked` of each, and at the end the state.

    There are `count` environments, `num_envs` in each rollout, which has its own rows of the table, and its own arrays
    of `fixed` where their strides are not 0.
    """
    body = Body(columns)
    for leaf in stacked:
        body.store(leaf)
    old, new = _scalars(state), _scalars(next_state)
    body.compute(new)
    changed = [(a, b) for a, b in zip(old, new, strict=True) if a is not b]
    for a, b in changed:
        body.add(f"const {type_name(a.dtype)} next_{text(a)} = {text(b)};")
    for a, _ in changed:
        body.add(f"{text(a)} = next_{text(a)};")
    begins: list[str] = []
    ends: list[str] = []
    for leaf, end in zip(state, next_state, strict=True):
        for i, x in enumerate(leaf.values):
            place = f"[(size_t)n * {len(leaf.values)} + {i}]"
            begins.append(f"  {type_name(x.dtype)} {text(x)} = {leaf.name}{place};")
            ends.append(f"  {end.name}{place} = {text(x)};")
    for leaf in (leaf for leaf in fixed if isinstance(leaf.array, Dense)):
        used = [(i, x) for i, x in enumerate(leaf.values) if x in body.inputs]
        begins += [f"  const {type_name(x.dtype)} {text(x)} = {leaf.name}[{i}];" for i, x in used]
    width, strides = row_width(columns), [f"int stride{i}" for i in range(len(fixed))]
    pointers = [f"const {x.pointer}" for x in (*state, *fixed)] + [x.pointer for x in (*next_state, *stacked)]
    return "\n".join(
        [
            *_tables(body),
            f"FN void rollout({', '.join(['int thread, int count, int num_envs, int num_steps', *strides])},",
            f"                const uint32* __restrict__ row, {', '.join(pointers)}) {{",
            "  STAGE",
            "  const int number = n % num_envs, rollout = n / num_envs;",
            f"  row += (size_t)rollout * num_steps * {width};",
            *(f"  {leaf.name} += (size_t)rollout * stride{i};" for i, leaf in enumerate(fixed)),
            *begins,
            f"  for (int t = 0; t < num_steps; ++t, row += {width}) {{",
            *body.lines,
            "  }",
            *ends,
            "}",
        ]
    )


def _scalars(leaves: Sequence[Leaf]) -> list[Scalar]:
    return [x for leaf in leaves for x in leaf.values]


def _tables(body: Body) -> list[str]:
    return [c.table(name, table.values, table.dtype) for table, name in body.tables.items()]
