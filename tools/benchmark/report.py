"""A markdown table of the rows that `measure` returns."""

from __future__ import annotations

from typing import Any

_COLUMNS = ("id", "environments", "reads", "program", "M steps/s", "ratio", "to", "of floor", "compile s")


def markdown(rows: list[dict[str, Any]], header: bool) -> str:
    """Formats one line per row, with an optional header."""
    lines = []
    if header:
        lines += ["| " + " | ".join(_COLUMNS) + " |", "|" + "---|" * len(_COLUMNS)]
    for row in rows:
        ratio, of_floor = ("" if number is None else f"{number:.2f}" for number in (row["ratio"], row["of_floor"]))
        cells = (
            row["id"],
            f"{row['num_envs']:,}",
            row["reads"],
            row["variant"],
            f"{row['steps_per_second'] / 1e6:.2f}",
        )
        cells = (*cells, ratio, row["baseline"], of_floor, f"{row['compile_seconds']:.2f}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
