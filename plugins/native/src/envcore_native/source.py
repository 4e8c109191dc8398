"""C++ from a graph of scalars: the same source is CUDA and code for a CPU."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from envcore_native import c
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
            f"constexpr int KEY_WORDS = {KEY_WORDS}, WIDTH = {KEY_WORDS + len(columns)};",
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


def rollout_function(
    columns: Sequence[Scalar],
    state: Sequence[Leaf],
    fixed: Sequence[Leaf],
    next_state: Sequence[Leaf],
    stacked: Sequence[Leaf],
) -> str:
    """A function of one environment: a loop of steps, which stores `stacked` of each, and at the end the state.

    It is called in a thread for each of `count` environments.
    """
    body = Body(columns)
    for leaf in stacked:
        body.store(leaf)
    old, new = ([x for leaf in leaves for x in leaf.values] for leaves in (state, next_state))
    body.compute(new)
    for a, b in zip(old, new, strict=True):
        body.add(f"const {type_name(a.dtype)} next_{text(a)} = {text(b)};")
    for a in old:
        body.add(f"{text(a)} = next_{text(a)};")
    begins: list[str] = []
    ends: list[str] = []
    for leaf, end in zip(state, next_state, strict=True):
        for i, x in enumerate(leaf.values):
            place = f"[(size_t)n * {len(leaf.values)} + {i}]"
            begins.append(f"  {type_name(x.dtype)} {text(x)} = {leaf.name}{place};")
            ends.append(f"  {end.name}{place} = {text(x)};")
    pointers = [f"const {x.pointer}" for x in (*state, *fixed)] + [x.pointer for x in (*next_state, *stacked)]
    return "\n".join(
        [
            *body.table_lines(),
            "FN void rollout(int thread, int count, int num_steps,",
            f"                const uint32* __restrict__ row, {', '.join(pointers)}) {{",
            "  STAGE",
            "  const int number = n;",
            *begins,
            f"  for (int t = 0; t < num_steps; ++t, row += {KEY_WORDS + len(columns)}) {{",
            *body.lines,
            "  }",
            *ends,
            "}",
        ]
    )
