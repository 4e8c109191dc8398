"""A markdown table of the rows that `measure` returns."""

from __future__ import annotations

from typing import Any

_COLUMNS = ("id", "environments", "program", "M steps/s", "ratio", "to", "compile s")


def markdown(rows: list[dict[str, Any]], header: bool) -> str:
    """One line a row, under a header if asked for."""
    lines = []
    if header:
        lines += ["| " + " | ".join(_COLUMNS) + " |", "|" + "---|" * len(_COLUMNS)]
    for row in rows:
        ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
        cells = (row["id"], f"{row['num_envs']:,}", row["variant"], f"{row['steps_per_second'] / 1e6:.2f}", ratio)
        lines.append("| " + " | ".join((*cells, row["baseline"], f"{row['compile_seconds']:.2f}")) + " |")
    return "\n".join(lines)
