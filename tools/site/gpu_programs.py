"""What `tools/benchmark --gpu-programs` has counted, as tables of the page about programs for GPUs."""

from __future__ import annotations

import functools
import json
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]

_DATA = Path(__file__).with_name("data")
_TABLE = {
    "gymnax": "gymnax's loop",
    "import swap": "the same with envcore",
    "envcore": "`Batched`",
    "rewards only": "`run_rollout`, rewards",
    "transitions stored": "`run_rollout`, transitions",
    "PureJaxRL's PPO on gymnax": "PureJaxRL's PPO on gymnax",
    "PureJaxRL's PPO": "PureJaxRL's PPO",
    "PPO": "PPO",
}
_LOOPS = ("envcore", "rewards only")
"""Programs whose bytes and times have tables."""


def row(found: Row) -> Row:
    """What is kept of a row of the benchmark."""
    names = ("id", "num_envs", "program", "target", "jax")
    kept = {name: found[name] for name in names}
    if "error" in found:
        return kept | {"error": found["error"]}
    kept |= {name: found[name] for name in ("kernels", "starts", "inner_loops", "copies", "temporary")}
    kept["bytes"] = round(found["bytes"] / found["num_envs"])
    return kept | {name: float(f"{found[name]:.3g}") for name in ("compile_seconds", "us_h200")}


def write_page(path: Path, text: Path) -> None:
    """Writes the page: the text, with tables in the places of its comments."""
    rows = [each for each in _rows("programs") if "error" not in each]
    page = text.read_text()
    loops = [*_loops(rows), *_updates(rows)]
    for name, lines in (("kernels", kernels(rows)), ("model", [model(rows, measured())]), ("loops", loops)):
        page = page.replace(f"<!-- {name} -->", "\n".join(lines))
    path.write_text(page)


def kernels(rows: Sequence[Row]) -> list[str]:
    """A table of the kernels of an iteration by program, with the fewest environments."""
    smallest = min(row["num_envs"] for row in rows)
    found: dict[str, dict[str, Row]] = {}
    for each in rows:
        if each["num_envs"] == smallest:
            found.setdefault(each["id"], {})[each["program"]] = each
    lines = table_head((f"{smallest:,} environments", *_TABLE.values()))
    for env_id, programs in found.items():
        cells = [_kernels(programs[name]) if name in programs else "" for name in _TABLE]
        lines.append(line((env_id, *cells)))
    return lines


def _kernels(found: Row) -> str:
    if "PPO" in found["program"]:
        return f"{found['starts']:,g}"
    loops = f", {found['inner_loops']:g} loops inside" if found["inner_loops"] else ""
    return f"{found['kernels']:g}{loops}"


def _loops(rows: Sequence[Row]) -> list[str]:
    """A table for each program and number of environments: what an iteration does, and its time."""
    lines: list[str] = []
    fused, us = {each["id"]: each for each in _rows("fused") if _is_plain(each)}, measured()
    for name in _LOOPS:
        for num_envs in sorted({each["num_envs"] for each in rows}):
            some = [each for each in rows if (each["program"], each["num_envs"]) == (name, num_envs)]
            title = f"{_TABLE[name]}, {num_envs:,} environments"
            shown = fused if (name, num_envs) == ("rewards only", min(each["num_envs"] for each in rows)) else {}
            lines += ["", f"````{{dropdown}} {title}", *loop(some, us, shown), "````"]
    return lines


def _updates(rows: Sequence[Row]) -> list[str]:
    """A table for each number of environments: what an update of PPO takes, of ours and of PureJaxRL's."""
    programs = [name for name in reversed(_TABLE) if "PPO" in name]
    lines: list[str] = []
    found = {(each["num_envs"], each["id"], each["program"]): each for each in rows if "PPO" in each["program"]}
    for num_envs in sorted({num_envs for num_envs, *_ in found}):
        lines += ["", f"````{{dropdown}} PPO, {num_envs:,} environments"]
        lines += table_head(("", *(f"{name}, {unit}" for unit in ("GB", "ms, H200") for name in programs)))
        for env_id in dict.fromkeys(env_id for number, env_id, _ in found if number == num_envs):
            some = [found.get((num_envs, env_id, name)) for name in programs]
            memory = [f"{each['temporary'] / 1e9:,.3g}" if each else "" for each in some]
            times = [f"{each['us_h200'] / 1e3:,.3g}" if each else "" for each in some]
            lines.append(line((env_id, *memory, *times)))
        lines.append("````")
    return lines


def loop(rows: Iterable[Row], us: dict[tuple[str, int, str], float], fused: dict[str, Row]) -> list[str]:
    """A table of one program: kernels, bytes, memory and times, computed beside measured."""
    heads = ["", "kernels", "copies", "bytes of one", "temporary MB", "compile s", "us, computed", "us, measured"]
    heads += ["registers, fused", "spilled bytes", "instructions"] if fused else []
    lines = table_head(heads)
    for each in rows:
        key = each["id"], each["num_envs"], each["program"]
        cells = [each["id"], f"{each['kernels']:g}", f"{each['copies']:g}", f"{each['bytes']:,}"]
        cells += [f"{each['temporary'] / 1e6:,.3g}", f"{each['compile_seconds']:g}"]
        cells += [f"{each['us_h200']:g}", f"{us.get(key, '')}"]
        if fused:
            kernel = fused.get(each["id"], {})
            cells += [f"{kernel.get(name, '')}" for name in ("registers", "spilled_bytes", "instructions")]
        lines.append(line(cells))
    return lines


def model(rows: Iterable[Row], us: dict[tuple[str, int, str], float]) -> str:
    """How far measured times are from computed ones, in a sentence for each number of environments."""
    ratios: dict[int, list[float]] = {}
    for each in rows:
        key = each["id"], each["num_envs"], each["program"]
        if key in us:
            ratios.setdefault(each["num_envs"], []).append(us[key] / each["us_h200"])
    parts = []
    for num_envs, found in sorted(ratios.items()):
        low, middle, high = min(found), statistics.median(found), max(found)
        parts.append(f"{middle:.2f} times the computed one ({low:.2f} to {high:.2f}) with {num_envs:,} environments")
    return f"The measured time is {', '.join(parts)}: medians, and the least and the greatest of the rows below."


def computed(env_id: str, num_envs: int, program: str) -> str:
    """The computed microseconds of an iteration on an H200; "" where there are none."""
    us = _computed().get((env_id, num_envs, program))
    return "" if us is None else f"{us:g}"


@functools.cache  # a page asks for each of its rows
def _computed() -> dict[tuple[str, int, str], float]:
    rows = [each for each in _rows("programs") if "error" not in each]
    return {(each["id"], each["num_envs"], each["program"]): each["us_h200"] for each in rows}


def measured() -> dict[tuple[str, int, str], float]:
    """Microseconds of an iteration that `--gpu` has measured, by environment, their number and program."""
    return {(each["id"], each["num_envs"], each["variant"]): each["us"] for each in _rows("gpu")}


def table_head(cells: Sequence[str]) -> list[str]:
    return [line(cells), "|---" * len(cells) + "|"]


def line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _is_plain(found: Row) -> bool:
    return (found["policy"], found["collected"], found["gpu"]) == ("random", "nothing", "H100")


def _rows(name: str) -> list[Row]:
    path = _DATA / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else []
