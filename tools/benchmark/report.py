"""Markdown tables of measured rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

_COLUMNS = ("id", "environments", "reads", "program", "M steps/s", "ratio", "to", "of floor", "compile s")


def markdown(rows: list[dict[str, Any]], header: bool) -> str:
    """Formats one line per row that `measure` returns, with an optional header."""
    lines = []
    for row in rows:
        ratio, of_floor = ("" if number is None else f"{number:.2f}" for number in (row["ratio"], row["of_floor"]))
        cells = (*program(row), f"{row['steps_per_second'] / 1e6:.3g}")
        lines.append((*cells, ratio, row["baseline"], of_floor, f"{row['compile_seconds']:.2f}"))
    return table(_COLUMNS, lines, header)


def program(row: dict[str, Any]) -> tuple[str, ...]:
    """The first cells of every table: what was measured."""
    return (row["id"], f"{row['num_envs']:,}", row["reads"], row["variant"])


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], header: bool) -> str:
    """A markdown table, with an optional header."""
    lines = ["| " + " | ".join(cells) + " |" for cells in [*([columns] if header else []), *rows]]
    if header:
        lines.insert(1, "|" + "---|" * len(columns))
    return "\n".join(lines)
