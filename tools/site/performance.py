"""The performance page, from the benchmark's figures in `data/speed.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import charts

_DATA = Path(__file__).with_name("data")
_COLUMNS = ("gymnax", "same_loop", "vmap", "run_rollout", "memory_floor")
_HEADS = ("gymnax", "same loop", "`vmap`", "`run_rollout`", "memory floor")
_SUITES = {"v": "Classic control", "bsuite": "bsuite", "misc": "Misc", "MinAtar": "MinAtar"}


def write_page(path: Path, text: Path) -> None:
    """Writes the page: the text, with a chart and a table a suite in the place of `<!-- figures -->`."""
    rows = json.loads((_DATA / "speed.json").read_text())
    figures = "\n\n".join(
        _suite(title, [row for row in rows if _suite_of(row["id"]) == title]) for title in _SUITES.values()
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.read_text().replace("<!-- figures -->", figures))


def _suite_of(env_id: str) -> str:
    end = env_id.rpartition("-")[2]
    return _SUITES.get(end, _SUITES["v"])


def _suite(title: str, rows: list[dict[str, Any]]) -> str:
    as_read = [row for row in rows if row["reads"] == "float32"]
    bars = [
        (row["id"], row["run_rollout"] / row["gymnax"], f"{row['run_rollout'] / row['gymnax']:.1f} x", "ours")
        for row in as_read
    ]
    chart = charts.bars(bars, f"{title}: speed of envcore's rollout as a multiple of gymnax's")
    table = ["| environment | read as | " + " | ".join(_HEADS) + " |", "|---|---|" + "---|" * len(_HEADS)]
    for row in rows:
        cells = [_cell(row, name) for name in _COLUMNS]
        table.append(f"| {row['id']} | {row['reads']} | " + " | ".join(cells) + " |")
    return "\n".join([f"### {title}", "", "```{raw} html", chart, "```", "", *table])


def _cell(row: dict[str, Any], name: str) -> str:
    value = row[name]
    if value is None:
        return ""
    ratio = f" (x{value / row['gymnax']:.3g})" if name in ("same_loop", "vmap", "run_rollout") else ""
    return f"{value:g}{ratio}"
