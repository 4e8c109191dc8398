"""How long users wait for a first result: the table of the performance page, from `tools/benchmark --waiting`."""

from __future__ import annotations

from typing import Any

_PROGRAMS = ("step", "rollout", "update")

Row = dict[str, Any]


def row(found: Row) -> Row:
    """A row as `data/waiting.json` keeps it: hundredths of a second."""
    seconds = {name: [each and round(each, 2) for each in found[name]] for name in _PROGRAMS}
    return {name: found[name] for name in ("id", "variant", "num_envs", "jax")} | seconds


def table(rows: list[Row]) -> list[str]:
    """Seconds of envcore and gymnax, with those from a cache in brackets; nothing before they were measured."""
    found = {(row["id"], row["variant"]): row for row in rows}
    if not found:
        return []
    lines = ["| environment | step | gymnax | rollout | gymnax | update | gymnax |", "|---|---|---|---|---|---|---|"]
    for env_id in dict.fromkeys(env_id for env_id, _ in found):
        cells = [_cell(found.get((env_id, side), {}).get(name)) for name in _PROGRAMS for side in ("envcore", "gymnax")]
        lines.append(" | ".join([f"| {env_id}", *cells, ""]).rstrip())
    return lines


def _cell(seconds: list[float | None] | None) -> str:
    if seconds is None or None in seconds:
        return ""
    return f"{seconds[0]:.2f} ({seconds[1]:.2f})"
