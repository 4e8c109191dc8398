"""The performance page, from the benchmark's figures in `data/speed.json`.

    uv run python tools/site/performance.py bench-results/results.json

takes the rows that `tools/benchmark` has written, in the place of older ones of the same programs. With
`--into scaling` it takes those of several numbers of environments into `data/scaling.json`, with `--into gpu` those of
`tools/benchmark --gpu`, with `--into programs` those of `tools/benchmark --gpu-programs`, and with
`--into devices --cores N` those of `tools/benchmark --cores N` into `data/devices.json`.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import re
from pathlib import Path
from typing import Any

import charts
import gpu_programs
import jax
import on_gpu

_DATA = Path(__file__).with_name("data")
_CPU_INFO = Path("/proc/cpuinfo")
_NUM_ENVS = 2048
_HEADS = {
    "gymnax": "gymnax",
    "pgx": "pgx",
    "envcore, same loop": "same loop",
    "envcore": "`vmap`",
    "envcore rollout": "`run_rollout`",
    "memory floor": "memory floor",
}
_SUITES = {"v": "Classic control", "bsuite": "bsuite", "misc": "Misc", "MinAtar": "MinAtar"}

Row = dict[str, Any]


def main() -> None:
    """Takes the rows of the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path, help="results.json of tools/benchmark")
    parser.add_argument(
        "--into", choices=("speed", "scaling", "devices", "gpu", "programs"), default="speed", help="which file"
    )
    parser.add_argument("--cores", type=int, metavar="N", help="that tools/benchmark was given; needed for devices")
    parser.add_argument("--date", default=datetime.date.today().isoformat(), help="of the measurement")
    parser.add_argument("--machine", default=_machine(), help="on which it was made")
    options = parser.parse_args()
    if (options.into == "devices") != (options.cores is not None):
        parser.error("--into devices and --cores need each other")
    rows = {_program(row): row for row in _rows(options.into)}
    for path in options.results:
        for found in json.loads(path.read_text()):
            if options.into in ("gpu", "programs"):
                row = (on_gpu if options.into == "gpu" else gpu_programs).row(found)
            else:
                row = {name: found[name] for name in ("id", "num_envs", "variant", "reads")}
                row |= _speedup(found, options.cores) if options.cores else _speed(found)
            rows[_program(row)] = row | {"date": options.date, "machine": row.get("machine", options.machine)}
    lines = [json.dumps(rows[program]) for program in sorted(rows)]
    (_DATA / f"{options.into}.json").write_text("[\n " + ",\n ".join(lines) + "\n]\n")


def write_page(path: Path, text: Path) -> None:
    """Writes the page: the text, with charts and tables in the places of its comments."""
    page = text.read_text()
    for name, lines in (
        ("figures", _figures()),
        ("scaling", _scaling()),
        ("devices", _devices()),
        ("types", _types()),
        ("gpu", [*_raw(on_gpu.chart(_rows("gpu"))), "", *on_gpu.speeds(_rows("gpu"))]),
        ("gpu rollouts", on_gpu.rollouts(_rows("gpu"))),
        ("gpu changes", on_gpu.changes(_rows("gpu"))),
        ("machines", _machines()),
    ):
        page = page.replace(f"<!-- {name} -->", "\n".join(lines))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page)


def sentence(env_id: str) -> str:
    """The speed of an environment in one line; "" if it was not measured."""
    found = speeds(_NUM_ENVS).get((env_id, "float32"), {})
    if "gymnax" not in found:
        return ""
    ours = found["envcore rollout"]
    return f"{ours:g} million steps a second on one core, {ours / found['gymnax']:.1f} times gymnax"


def _figures() -> list[str]:
    """A chart and a table for each suite, at 2,048 environments."""
    lines: list[str] = []
    for title in _SUITES.values():
        found = {key: row for key, row in speeds(_NUM_ENVS).items() if _suite_of(key[0]) == title and "gymnax" in row}
        groups = [(env_id, _bars(row)) for (env_id, reads), row in found.items() if reads == "float32"]
        chart = charts.bars(groups, f"{title}: million steps a second of gymnax, pgx and envcore")
        variants = [variant for variant in _HEADS if any(variant in row for row in found.values())]
        table = [" | ".join(["| environment | read as", *(_HEADS[variant] for variant in variants), ""])]
        table.append("|---" * (2 + len(variants)) + "|")
        for (env_id, reads), row in found.items():
            cells = [_cell(row, variant) for variant in variants]
            table.append(" | ".join([f"| {env_id} | {reads}", *cells, ""]))
        lines += [f"### {title}", "", *_raw(chart), "", *table, ""]
    return lines


def _bars(row: dict[str, float]) -> list[charts.Bar]:
    found = [(row[peer], f"{row[peer]:g} {peer}", "peer") for peer in ("gymnax", "pgx") if peer in row]
    ours = row["envcore rollout"]
    return [*found, (ours, f"{ours:g} envcore, {ours / row['gymnax']:.3g}x", "ours")]


def _scaling() -> list[str]:
    """A chart of the rollout's speed by number of environments."""
    groups: dict[str, list[charts.Bar]] = {}
    for row in _rows("scaling"):
        bar = (row["speed"], f"{row['speed']:g} with {row['num_envs']:,}", "ours")
        groups.setdefault(row["id"], []).append(bar)
    return _raw(charts.bars(list(groups.items()), "million steps a second by number of environments"))


def _devices() -> list[str]:
    """A chart of the rollout's speed by number of cores, a device each."""
    groups: dict[str, list[charts.Bar]] = {}
    for row in _rows("devices"):
        if row["variant"] == "envcore rollout" and row["reads"] == "float32":
            group = groups.setdefault(f"{row['id']}, {row['num_envs']:,} environments", [(1.0, "1 core", "peer")])
            group.append((row["speedup"], f"{row['cores']} cores, {row['speedup']:.2f}x", "ours"))
    label = "speed by number of cores, relative to one core"
    return _raw(charts.bars(list(groups.items()), label, is_logarithmic=False))


def _types() -> list[str]:
    """A chart of the rollout's speed by the dtype that observations are read as."""
    groups: dict[str, list[charts.Bar]] = {}
    for (env_id, reads), row in speeds(_NUM_ENVS).items():
        if "envcore rollout" in row:
            speed = row["envcore rollout"]
            groups.setdefault(env_id, []).append(
                (speed, f"{speed:g} {reads}", "peer" if reads == "float32" else "ours")
            )
    several = [(env_id, bars) for env_id, bars in groups.items() if len(bars) > 1]
    return _raw(charts.bars(several, "million steps a second by dtype of the observations"))


def _machines() -> list[str]:
    """What was measured when, on what."""
    found: dict[tuple[str, str, str], set[str]] = {}
    for title, name in (
        ("several numbers of environments", "scaling"),
        ("several cores", "devices"),
        ("one GPU", "gpu"),
        ("", "speed"),
    ):
        for row in _rows(name):
            found.setdefault((row["date"], row["machine"], row["jax"]), set()).add(title or _suite_of(row["id"]))
    rows = [
        f"| {date} | {machine} | {jax} | {', '.join(sorted(what))} |" for (date, machine, jax), what in found.items()
    ]
    return ["| date | machine | JAX | figures |", "|---|---|---|---|", *sorted(rows)]


def _speed(found: Row) -> Row:
    return {"jax": found["jax"], "speed": float(f"{found['steps_per_second'] / 1e6:.3g}")}


def _speedup(found: Row, cores: int) -> Row:
    """Of devices on several cores, relative to one core: the first of the benchmark's two ratios."""
    return {"jax": jax.__version__, "cores": cores, "speedup": float(f"{found['ratios'][0]:.3g}")}


def _rows(name: str) -> list[Row]:
    path = _DATA / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else []


def _program(row: Row) -> tuple[Any, ...]:
    return (
        list(_SUITES.values()).index(_suite_of(row["id"])),
        row["id"],
        row.get("reads", "float32") != "float32",
        row["num_envs"],
        row.get("variant", row.get("program")),
        row.get("cores", 1),
    )


def speeds(num_envs: int) -> dict[tuple[str, str], dict[str, float]]:
    """Millions of steps a second by environment and reading, then by program."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for row in _rows("speed"):
        if row["num_envs"] == num_envs:
            found.setdefault((row["id"], row["reads"]), {})[row["variant"]] = row["speed"]
    for (env_id, _), row in found.items():  # the peers may have float32 observations only
        others = found.get((env_id, "float32"), {})
        row |= {peer: others[peer] for peer in ("gymnax", "pgx") if peer in others and peer not in row}
    return found


def _suite_of(env_id: str) -> str:
    end = env_id.rpartition("-")[2]
    return _SUITES.get(end, _SUITES["v"])


def _cell(row: dict[str, float], variant: str) -> str:
    if variant not in row:
        return "not measured"
    ratio = f" (x{row[variant] / row['gymnax']:.3g})" if variant.startswith("envcore") else ""
    return f"{row[variant]:g}{ratio}"


def _raw(chart: str) -> list[str]:
    return ["```{raw} html", chart, "```"]


def _machine() -> str:
    text = _CPU_INFO.read_text() if _CPU_INFO.exists() else ""
    model = re.search("model name\\s*: (.*)", text)
    return model[1] if model else platform.processor()


if __name__ == "__main__":
    main()
