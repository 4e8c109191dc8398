"""The fidelity page: the recordings of the originals in tests/golden, and what the tests compare with them."""

from __future__ import annotations

import collections
import functools
import json
from pathlib import Path
from typing import Any

import numpy as np

_GOLDEN = Path(__file__).parents[2] / "tests" / "golden"
_COMPARISONS = Path(__file__).with_name("data") / "comparisons.json"
_AGENTS = Path(__file__).with_name("data") / "originals.json"
_ORIGINALS = {"bsuite": "bsuite", "classic": "Gymnasium", "minatar": "MinAtar", "toy_text": "Gymnasium"}
_ENDS = {"bsuite": "-bsuite", "classic": "-v1", "minatar": "-MinAtar", "toy_text": "-misc"}
_NAMES = {
    "bandit": "SimpleBandit",
    "cartpole": "CartPole",
    "cartpole_swingup": "CartPoleSwingup",
    "memory_len": "MemoryChain",
    "memory_size": "MemoryChain",
    "mnist": "MNISTBandit",
    "umbrella_distract": "UmbrellaChain",
    "umbrella_length": "UmbrellaChain",
}
_FORMULAS = (
    "The originals of these environments are not installable. The tests reimplement their rules in numpy, and compare "
    "whole episodes."
)


def parts() -> dict[str, list[str]]:
    """The generated parts of the page by the names that its comments have."""
    return {"comparisons": _figures(), "agents": _agents(), "recordings": _recordings()}


def sentence(env_id: str) -> str:
    """What was compared for an environment, in one line; "" if nothing was."""
    row, recorded = _compared().get(env_id), _recorded().get(env_id, 0)
    if row is None:
        return ""
    transitions = [f"{recorded:,} recorded transitions"] if recorded else []
    transitions += [f"{row['transitions']:,} in lockstep with the original"] if row["transitions"] else []
    what = " and ".join(transitions) or f"{row['numbers']:,} numbers of whole episodes, with the original's rules"
    difference = f"; the largest difference is {_difference(row)}" if row["difference"] else ", all equal"
    return what + difference


def return_in_the_original(env_id: str) -> str:
    """A sentence about the best agent's return in the original's own program. "" if it was not played there."""
    row = next((row for row in json.loads(_AGENTS.read_text()) if row["id"] == env_id), None)
    if row is None:
        return ""
    return f" In {row['original']} itself it is {row['mean']:.4g}, over {row['episodes']} episodes."


def _figures() -> list[str]:
    """A table for each original that is a package, and one for the environments whose original is none."""
    compared, recorded, originals = _compared(), _recorded(), _originals()
    end = ("numbers", "largest difference", "of the tolerance")
    lines: list[str] = []
    for original in dict.fromkeys(originals.values()):
        rows = [("environment", "recorded", "in lockstep", *end), ("---",) * 6]
        for env_id in [env_id for env_id in compared if originals.get(env_id) == original]:
            beside = compared[env_id]["transitions"]
            counts = f"{recorded[env_id]:,}", f"{beside:,}" if beside else "recordings only"
            rows.append((_link(env_id), *counts, *_findings(compared[env_id])))
        lines += [f"### Compared with {original}", "", *_table(rows), ""]
    rows = [("environment", *end), ("---",) * 4]
    rows += [(_link(env_id), *_findings(row)) for env_id, row in compared.items() if env_id not in originals]
    return [*lines, "### Compared with the originals' formulas", "", _FORMULAS, "", *_table(rows)]


def _agents() -> list[str]:
    """Mean returns of the trained agents in envcore and in the originals."""
    rows = [("environment", "original", "in the original", "in envcore", "z"), ("---",) * 5]
    for row in json.loads(_AGENTS.read_text()):
        theirs = f"{row['mean']:.4g} ± {row['std'] / row['episodes'] ** 0.5:.2g}"
        ours = f"{row['mean_in_envcore']:.4g} ± {row['std_in_envcore'] / row['episodes_in_envcore'] ** 0.5:.2g}"
        z = "equal" if row["z"] is None else f"{row['z']:.1f}"
        rows.append((_link(row["id"]), row["original"], theirs, ours, z))
    return _table(rows)


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in rows]


def _link(env_id: str) -> str:
    return f"[{env_id}](../environments/{env_id}.md)"


def _findings(row: dict[str, Any]) -> tuple[str, str, str]:
    return f"{row['numbers']:,}", _difference(row), f"{row['of_tolerance']:.0%}"


def _recordings() -> list[str]:
    head = ["| recording | original | transitions | settings | kinds of events |", "|---|---|---|---|---|"]
    found = _all_recordings()
    rows = [
        f"| {each['name']} | {each['original']} | {each['count']:,} | {each['settings']} | {each['events']} |"
        for each in found
    ]
    return [*head, *rows, "", f"Together {sum(each['count'] for each in found):,} transitions."]


@functools.cache
def _all_recordings() -> list[dict[str, Any]]:
    return [_recording(file) for file in sorted(_GOLDEN.glob("*.npz")) if "seeded_tables" not in file.name]


def _recording(file: Path) -> dict[str, Any]:
    with np.load(file) as arrays:
        meta: dict[str, Any] = json.loads(str(arrays["meta"]))
        count = sum(len(arrays[name]) for name in arrays.files if name.rpartition(".")[2] == "action")
    suite, _, name = file.stem.partition(".")
    versions = {key.lower(): value for key, value in meta.get("versions", {}).items()}
    original = _ORIGINALS[suite]
    return {
        "name": f"{suite}: {name}",
        "env_id": _env_id(suite, name.partition(".")[0]),
        "original": f"{original} {versions[original.lower()]}",
        "count": count,
        "settings": len(meta.get("segments", [])) or 1,
        "events": len(meta.get("event_names", [])) or "not listed",
    }


def _env_id(suite: str, name: str) -> str:
    """The environment of a recording; those with noisy or scaled rewards belong to the environment without."""
    name = name.removesuffix("_noise").removesuffix("_scale")
    end = "-v0" if name.startswith("mountain_car") and suite == "classic" else _ENDS[suite]
    return (_NAMES.get(name) or "".join(part.capitalize() for part in name.split("_"))) + end


def _recorded() -> dict[str, int]:
    counts: dict[str, int] = collections.Counter()
    for each in _all_recordings():
        counts[each["env_id"]] += each["count"]
    return counts


def _originals() -> dict[str, str]:
    return {each["env_id"]: each["original"] for each in _all_recordings()}


def _compared() -> dict[str, dict[str, Any]]:
    return json.loads(_COMPARISONS.read_text())


def _difference(row: dict[str, Any]) -> str:
    if not row["difference"]:
        return "none"
    of = row["of"].removeprefix("info.")
    return f"{row['difference']:.2g}" + (f" ({of})" if of else "")
