"""What `tools/benchmark --gpu` has measured, as a chart and tables of the performance page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import charts
import gpu_programs
from gpu_programs import line, table_head

Row = dict[str, Any]

_PROGRAMS = ("gymnax", "envcore")
_STORED = {
    "rewards only": "reward",
    "transitions stored": "observation, action, reward, done",
    "transitions stored, network": "the same, of a network's actions",
}
_FUSED = ", fused"
_TRAINING = {
    "gymnax + PPO": "PureJaxRL's PPO on gymnax",
    "envcore + PPO": "PureJaxRL's PPO on envcore",
    "envcore + its PPO": "PPO",
}
_NUM_ENVS = 65_536
"""Of the chart."""


def row(found: Row) -> Row:
    """What is kept of a row of the benchmark."""
    return {
        "id": found["env_id"],
        "num_envs": found["num_envs"],
        "variant": found["program"],
        "reads": "float32",
        "jax": found["jax"],
        "speed": _rounded(found["steps_per_second"] / 1e6),
        "us": _rounded(found["us_per_iteration"]),
        "kernels": found["kernels"],
        "machine": found["device"],
    }


def chart(rows: Iterable[Row]) -> str:
    """How many times as fast as gymnax's each environment is at one number of environments, the fastest first."""
    found = {}
    for env_id, row in _by_environment(rows, _NUM_ENVS).items():
        peer, ours = (row[program]["speed"] for program in _PROGRAMS)
        found[env_id] = ours / peer
    groups = [
        (env_id, [(ratio, f"{ratio:.3g}x", "ours")])
        for env_id, ratio in sorted(found.items(), key=lambda item: -item[1])
    ]
    return charts.bars(groups, f"times gymnax's speed, {_NUM_ENVS:,} environments", 10)


def speeds(rows: Sequence[Row]) -> list[str]:
    """A table for each number of environments."""
    lines: list[str] = []
    for num_envs in sorted({row["num_envs"] for row in rows}):
        heads = (
            f"{num_envs:,} environments",
            *_PROGRAMS,
            "ratio",
            "us an iteration",
            "computed",
            "kernels an iteration",
        )
        lines += ["", *table_head(heads)]
        for env_id, found in _by_environment(rows, num_envs).items():
            both = [found[program] for program in _PROGRAMS if program in found]
            cells = [f"{found[program]['speed']:,g}" if program in found else "no memory" for program in _PROGRAMS]
            ratio = f"{both[-1]['speed'] / both[0]['speed']:.3g}" if len(both) == 2 else ""
            us, kernels = (" and ".join(f"{each[name]:,g}" for each in both) for name in ("us", "kernels"))
            computed = " and ".join(gpu_programs.computed(env_id, num_envs, each["variant"]) or "-" for each in both)
            lines.append(line((env_id, *cells, ratio, us, computed, kernels)))
    return lines


def rollouts(rows: Sequence[Row]) -> list[str]:
    """A table of `run_rollout` by what it stores, with envcore-native's where that was measured."""
    sizes = sorted({row["num_envs"] for row in rows})
    lines = table_head(("environment", "stored", *(f"{num_envs:,}" for num_envs in sizes)))
    found = {(row["id"], row["variant"], row["num_envs"]): f"{row['speed']:,g}" for row in rows}
    for env_id, variant in dict.fromkeys((env_id, each) for env_id, each, _ in found if _is_rollout(each)):
        cells = (found.get((env_id, variant, num_envs), "no memory") for num_envs in sizes)
        stored = _STORED[variant.removesuffix(_FUSED)] + " (envcore-native)" * variant.endswith(_FUSED)
        lines.append(line((env_id, stored, *cells)))
    return lines


def training(rows: Sequence[Row]) -> list[str]:
    """A table of the million steps a second of training."""
    found = {(row["id"], row["variant"]): f"{row['speed']:g}" for row in rows if row["variant"] in _TRAINING}
    lines = table_head(("environment", *_TRAINING.values()))
    for env_id in dict.fromkeys(env_id for env_id, _ in found):
        lines.append(line((env_id, *(found.get((env_id, variant), "") for variant in _TRAINING))))
    return lines


def changes(rows: Sequence[Row]) -> list[str]:
    """A table of the programs that change something, beside the one that changes nothing."""
    smallest = _by_environment(rows, min(row["num_envs"] for row in rows))
    found = {env_id: each for env_id, each in smallest.items() if any(map(_is_change, each))}
    programs = dict.fromkeys(program for each in found.values() for program in each)
    lines = table_head(("us an iteration", *found))
    for program in ("envcore", *filter(_is_change, programs)):
        cells = (f"{each[program]['us']:g}" if program in each else "" for each in found.values())
        lines.append(line(("nothing changed" if program == "envcore" else program, *cells)))
    return lines


def _is_rollout(variant: str) -> bool:
    return variant.removesuffix(_FUSED) in _STORED


def _is_change(variant: str) -> bool:
    return variant not in (*_PROGRAMS, *_TRAINING) and not _is_rollout(variant)


def _by_environment(rows: Iterable[Row], num_envs: int) -> dict[str, dict[str, Row]]:
    """The rows of each environment, by program."""
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row["num_envs"] == num_envs:
            found.setdefault(row["id"], {})[row["variant"]] = row
    return found


def _rounded(number: float) -> float:
    return float(f"{number:.3g}")
