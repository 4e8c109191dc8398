"""The performance page, from the benchmark's figures in `data/speed.json`.

    uv run python tools/site/performance.py bench-results/results.json

takes the rows that `tools/benchmark` has written, in the place of older ones of the same programs. With
`--into scaling` it takes those of several numbers of environments into `data/scaling.json`, with `--into gpu` those of
`tools/benchmark --gpu`, and so with `--into programs` (of `--gpu-programs`), `--into waiting` and
`--into devices --cores N`. `--readme` draws the README's chart again.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import re
import statistics
from pathlib import Path
from typing import Any

import charts
import first_results
import gpu_programs
import jax
import on_gpu

_DATA = Path(__file__).with_name("data")
_README_CHART = Path(__file__).parents[2] / ".github" / "speed.svg"
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
_READERS: dict[str, Any] = {"gpu": on_gpu, "programs": gpu_programs, "waiting": first_results}
_SUITES = {"v": "Classic control", "bsuite": "bsuite", "misc": "Misc", "MinAtar": "MinAtar"}

Row = dict[str, Any]


def main() -> None:
    """Takes the rows of the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="*", type=Path, help="results.json of tools/benchmark")
    parser.add_argument(
        "--into", choices=("speed", "scaling", "devices", *_READERS), default="speed", help="which file"
    )
    parser.add_argument("--cores", type=int, metavar="N", help="that tools/benchmark was given; needed for devices")
    parser.add_argument("--date", default=datetime.date.today().isoformat(), help="of the measurement")
    parser.add_argument("--machine", default=_machine(), help="on which it was made")
    parser.add_argument("--readme", action="store_true", help="draw the README's chart again")
    options = parser.parse_args()
    if options.readme:
        _README_CHART.write_text(readme_chart())
    if (options.into == "devices") != (options.cores is not None):
        parser.error("--into devices and --cores need each other")
    rows = {_program(row): row for row in _rows(options.into)}
    for path in options.results:
        for found in json.loads(path.read_text()):
            if options.into in _READERS:
                row = _READERS[options.into].row(found)
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
        ("own loop", _ratios("envcore, same loop", 10)),
        ("rollout", _ratios("envcore rollout", 20)),
        ("figures", _figures()),
        ("scaling", _scaling()),
        ("devices", _devices()),
        ("types", _types()),
        ("waiting", first_results.table(_rows("waiting"))),
        ("gpu", [*_raw(on_gpu.chart(_rows("gpu"))), "", *on_gpu.speeds(_rows("gpu"))]),
        ("gpu rollouts", on_gpu.rollouts(_rows("gpu"))),
        ("gpu training", on_gpu.training(_rows("gpu"))),
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


def headline() -> str:
    """How much faster a rollout is than gymnax's loop, in one sentence."""
    ratios = [row["envcore rollout"] / row["gymnax"] for row in _beside_gymnax().values()]
    return (
        f"**{statistics.median(ratios):.2g} times as fast as gymnax**, the median of {len(ratios)} environments on one "
        f"core, which range from {min(ratios):.0f} to {max(ratios):.0f} times."
    )


def _ratios(variant: str, limit: float) -> list[str]:
    """A chart of how many times as fast as gymnax a loop is, at 2,048 environments, the fastest first."""
    groups = []
    for (env_id, _), row in sorted(_beside_gymnax().items(), key=lambda item: -item[1][variant] / item[1]["gymnax"]):
        bars = [_ratio(row, variant, "x", "ours")]
        if "pgx" in row and variant == "envcore rollout":
            bars.append(_ratio(row, "pgx", "x, pgx", "peer"))
        groups.append((env_id, bars))
    return _raw(charts.bars(groups, "times the speed of gymnax 1.0.1", limit))


def readme_chart() -> str:
    """The README's picture: medians over the environments of each suite, in both loops, beside gymnax."""
    groups = [("gymnax 1.0.1", [(1, "1x", "peer")])]
    for title in _SUITES.values():
        rows = [row for (env_id, _), row in _beside_gymnax().items() if _suite_of(env_id) == title]
        bars = []
        for variant, loop, kind in (
            ("envcore, same loop", "in gymnax's loop", "swap"),
            ("envcore rollout", "in run_rollout", "ours"),
        ):
            median = statistics.median(row[variant] / row["gymnax"] for row in rows)
            bars.append((median, f"{median:.2g}x {loop}", kind))
        groups.append((title, bars))
    title = f"speedup over gymnax: {_NUM_ENVS:,} environments, one core of a cloud CPU (Xeon or EPYC)"
    return charts.as_file(charts.bars(groups, title, width=640))


def _beside_gymnax() -> dict[tuple[str, str], dict[str, float]]:
    """Speeds of the environments that gymnax has, observations read as float32."""
    return {key: row for key, row in speeds(_NUM_ENVS).items() if key[1] == "float32" and "gymnax" in row}


def _ratio(row: dict[str, float], variant: str, text: str, kind: str) -> charts.Bar:
    ratio = row[variant] / row["gymnax"]
    return ratio, f"{ratio:.3g}{text}", kind


def _figures() -> list[str]:
    """A table for each suite, at 2,048 environments."""
    lines: list[str] = []
    for title in _SUITES.values():
        found = {key: row for key, row in speeds(_NUM_ENVS).items() if _suite_of(key[0]) == title and "gymnax" in row}
        variants = [variant for variant in _HEADS if any(variant in row for row in found.values())]
        table = [" | ".join(["| environment | read as", *(_HEADS[variant] for variant in variants), ""])]
        table.append("|---" * (2 + len(variants)) + "|")
        for (env_id, reads), row in found.items():
            cells = [_cell(row, variant) for variant in variants]
            table.append(" | ".join([f"| {env_id} | {reads}", *cells, ""]))
        lines += [f"### {title}", "", *table, ""]
    return lines


def _scaling() -> list[str]:
    """A chart of the rollout's speed by number of environments, relative to 2,048 of them."""
    groups: dict[str, list[charts.Bar]] = {}
    found = {(row["id"], row["num_envs"]): row["speed"] for row in _rows("scaling")}
    for (env_id, num_envs), speed in found.items():
        bar = (speed / found[env_id, _NUM_ENVS], f"{speed:g} M/s", "ours" if num_envs == _NUM_ENVS else "peer")
        groups.setdefault(f"{env_id}, {num_envs:,}", []).append(bar)
    return _raw(charts.bars(list(groups.items()), f"times the speed with {_NUM_ENVS:,} environments"))


def _devices() -> list[str]:
    """A chart of the rollout's speed by number of cores, a device each."""
    groups: dict[str, list[charts.Bar]] = {}
    for row in _rows("devices"):
        if row["variant"] == "envcore rollout" and row["reads"] == "float32":
            bar = (row["speedup"], f"{row['cores']} cores, {row['speedup']:.2f}x", "ours")
            groups.setdefault(f"{row['id']}, {row['num_envs']:,}", []).append(bar)
    return _raw(charts.bars(list(groups.items()), "times the speed of one core"))


def _types() -> list[str]:
    """A chart of what reading observations in their own dtype gains."""
    found = {key: row["envcore rollout"] for key, row in speeds(_NUM_ENVS).items() if "envcore rollout" in row}
    groups = []
    for (env_id, reads), speed in found.items():
        if reads != "float32":
            ratio = speed / found[env_id, "float32"]
            groups.append((env_id, [(ratio, f"{ratio:.2f}x, {reads}", "ours")]))
    return _raw(charts.bars(groups, "times the speed with observations read as float32"))


def _machines() -> list[str]:
    """What was measured when, on what."""
    found: dict[tuple[str, str, str], set[str]] = {}
    for title, name in (
        ("several numbers of environments", "scaling"),
        ("several cores", "devices"),
        ("one GPU", "gpu"),
        ("waiting", "waiting"),
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
