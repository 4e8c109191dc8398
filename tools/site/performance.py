"""The performance page, from the rows of `tools/benchmark --out tools/site/data/NAME.json`.

`uv run python tools/site/performance.py` draws the README's chart again.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import charts

_DATA = Path(__file__).with_name("data")
_README_CHART = Path(__file__).parents[2] / ".github" / "speed.svg"
_NUM_ENVS = 2048
_SUITES = {"v": "Classic control", "bsuite": "bsuite", "misc": "Misc", "MinAtar": "MinAtar"}
_COLUMNS = {
    "gymnax": "gymnax",
    "pgx": "pgx",
    "envcore, same loop": "same loop",
    "envcore": "`vmap`",
    "envcore rollout": "`run_rollout`",
    "memory floor": "memory floor",
}
_STORED = {
    "rewards only": "reward",
    "rewards only, native": "reward (envcore-native)",
    "transitions stored": "observation, action, reward, done",
    "transitions stored, native": "observation, action, reward, done (envcore-native)",
    "transitions stored, network": "the same, of a network's actions",
}
_TRAINING = {
    "gymnax + PPO": "PureJaxRL's PPO on gymnax",
    "envcore + PPO": "PureJaxRL's PPO on envcore",
    "envcore + its PPO": "PPO",
}
_ON_GPU = {"gymnax": "gymnax", "envcore, Batched": "envcore"}

Row = dict[str, Any]


def parts() -> dict[str, list[str]]:
    """The generated parts of the pages by the names that their comments have."""
    speeds, scaling, waiting, gpu = map(_rows, ("speed", "scaling", "waiting", "gpu"))
    sizes = {num_envs: f"{num_envs:,}" for num_envs in sorted({row["num_envs"] for row in gpu})}
    stored = [row | {"stored": _STORED[row["variant"]]} for row in gpu if row["variant"] in _STORED]
    waited = [
        row | {"what": f"{what}, {row['variant']}", "seconds": row[what]}
        for row in waiting
        for what in ("step", "rollout", "update")
        if None not in row[what]
    ]
    columns = {f"{what}, {side}": "" for what in ("step", "rollout", "update") for side in ("envcore", "gymnax")}
    numbers = {number: f"{number:,}" for number in sorted({row["num_envs"] for row in scaling})}
    return {
        "number": [headline()],
        "own loop": _chart("envcore, same loop", 10),
        "rollout": _chart("envcore rollout", 20),
        "figures": _figures(speeds),
        "scaling": [*table(scaling, ["id"], "num_envs", numbers, _relative), "", _measured(scaling)],
        "waiting": [
            *table(waited, ["id"], "what", columns, lambda row, _: "{:.1f} ({:.1f})".format(*row["seconds"])),
            "",
            _measured(waiting),
        ],
        "gpu": [line for size in sizes for line in _on_gpu([row for row in gpu if row["num_envs"] == size])],
        "gpu rollouts": table(stored, ["id", "stored"], "num_envs", sizes),
        "gpu training": table(gpu, ["id"], "variant", _TRAINING),
        "gpu machine": [_measured(gpu)],
    }


def table(
    rows: Sequence[Row],
    index: Sequence[str],
    column: str,
    titles: dict[Any, str],
    cell: Callable[[Row, dict[Any, Row]], str] = lambda row, _: f"{row['speed']:,g}",
) -> list[str]:
    """Rows as a table: a line for each value of `index`, and a column for each value of `column` that has a title."""
    found: dict[tuple[Any, ...], dict[Any, Row]] = {}
    for row in rows:
        if row[column] in titles:
            found.setdefault(tuple(row[name] for name in index), {})[row[column]] = row
    heads = ["environment", *index[1:], *(title or str(name) for name, title in titles.items())]
    lines = [heads, ["---"] * len(heads)]
    lines += [
        [*key, *(cell(each[name], each) if name in each else "" for name in titles)] for key, each in found.items()
    ]
    return [f"| {' | '.join(line)} |" for line in lines]


def headline() -> str:
    """How much faster a rollout is than gymnax's loop, in one sentence."""
    ratios = [row["envcore rollout"] / row["gymnax"] for row in _beside_gymnax().values()]
    return (
        f"**{statistics.median(ratios):.2g} times as fast as gymnax**, the median of {len(ratios)} environments on one "
        f"core, which range from {min(ratios):.0f} to {max(ratios):.0f} times."
    )


def readme_chart() -> str:
    """The README's picture: medians over the environments of each suite, in both loops, relative to gymnax."""
    groups: list[Any] = [("gymnax 1.0.1", [(1, "1x", charts.PEER)])]
    for title in _SUITES.values():
        rows = [row for env_id, row in _beside_gymnax().items() if _suite_of(env_id) == title]
        medians = {
            loop: statistics.median(row[variant] / row["gymnax"] for row in rows)
            for variant, loop in (("envcore, same loop", "in gymnax's loop"), ("envcore rollout", "in run_rollout"))
        }
        groups.append((title, [(ratio, f"{ratio:.2g}x {loop}", charts.OURS) for loop, ratio in medians.items()]))
    chart = charts.bars(
        groups, f"speedup over gymnax: {_NUM_ENVS:,} environments, one core of a cloud CPU (Xeon or EPYC)"
    )
    return chart.replace("currentColor", "#808a94")  # a file of its own has no colors of a page


def _chart(variant: str, limit: float) -> list[str]:
    """How many times as fast as gymnax a loop is, the fastest first, and pgx beside `run_rollout`."""
    groups: list[tuple[str, list[Any]]] = []
    for env_id, row in sorted(_beside_gymnax().items(), key=lambda item: -item[1][variant] / item[1]["gymnax"]):
        found = {"x": (variant, charts.OURS)} | ({"x, pgx": ("pgx", charts.PEER)} if "rollout" in variant else {})
        bars = [(row[name] / row["gymnax"], end, color) for end, (name, color) in found.items() if name in row]
        groups.append((env_id, [(ratio, f"{ratio:.3g}{end}", color) for ratio, end, color in bars]))
    return _raw(charts.bars(groups, "times the speed of gymnax 1.0.1", limit))


def _figures(speeds: Sequence[Row]) -> list[str]:
    """A table for each suite: millions of steps per second."""
    lines: list[str] = []
    compared = _beside_gymnax()
    for title in _SUITES.values():
        rows = [row for row in speeds if _suite_of(row["id"]) == title and row["id"] in compared]
        variants = {name: head for name, head in _COLUMNS.items() if any(row["variant"] == name for row in rows)}
        lines += [f"### {title}", "", *table(rows, ["id", "reads"], "variant", variants), "", _measured(rows), ""]
    return lines


def _on_gpu(rows: Sequence[Row]) -> list[str]:
    """A table for one number of environments."""

    def cell(row: Row, others: dict[Any, Row]) -> str:
        us = f"{float(format(row['num_envs'] / row['speed'], '.3g')):,g} us"
        ratio = (
            f", x{row['speed'] / others['gymnax']['speed']:.3g}"
            if len(others) == 2 and row is others["envcore, Batched"]
            else ""
        )
        kernels = f", {row['kernels']:g} kernels" if row.get("kernels") else ""
        return f"{row['speed']:,g} ({us}{kernels}{ratio})"

    lines = table(rows, ["id"], "variant", _ON_GPU, cell)
    return ["", lines[0].replace("environment", f"{rows[0]['num_envs']:,} environments", 1), *lines[1:]]


def _measured(rows: Sequence[Row]) -> str:
    """When rows were measured, and on which machines."""
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(f"{row['machine']}, JAX {row['jax']}", set()).add(row["date"])
    return "Measured on " + ", and on ".join(f"{', '.join(sorted(found[name]))} ({name})" for name in found) + "."


def _relative(row: Row, others: dict[Any, Row]) -> str:
    return f"{row['speed'] / others[_NUM_ENVS]['speed']:.2g}"


def _beside_gymnax() -> dict[str, dict[str, float]]:
    """Speeds by environment and program, of the environments that gymnax has, observations read as float32."""
    found: dict[str, dict[str, float]] = {}
    for row in _rows("speed"):
        if row["reads"] == "float32":
            found.setdefault(row["id"], {})[row["variant"]] = row["speed"]
    return {env_id: row for env_id, row in found.items() if "gymnax" in row}


def _suite_of(env_id: str) -> str:
    return _SUITES.get(env_id.rpartition("-")[2], _SUITES["v"])


def _rows(name: str) -> list[Row]:
    return json.loads((_DATA / f"{name}.json").read_text())


def _raw(chart: str) -> list[str]:
    return ["```{raw} html", chart, "```"]


if __name__ == "__main__":
    _README_CHART.write_text(readme_chart())
