"""The versions of ids: a section of each environment's page, and the table of the page on versions."""

from __future__ import annotations

import json
from pathlib import Path

from envcore.registration import Registration
from suites import our_environments

_DATA = Path(__file__).with_name("data") / "history.json"
FIRST = "0.2.0"
"""The version of the suites in which all of them appeared."""


def section(found: Registration) -> list[str]:
    """The lines of an environment's page about its versions."""
    spec = found.spec
    rows = [f"| {release} | {text} |" for release, text in _changes(found).items()]
    stem, _, end = spec.id.rpartition("-v")
    if stem:
        next_id = f"If Gymnasium changes the rules in a new version, they get the id `{stem}-v{int(end) + 1}`"
    else:
        next_id = f"Changed rules get a new id, `{spec.id}-v1`"
    number = _history(spec.id).get("number")
    return [
        "## Versions",
        "",
        *([f"The number is {number}", ""] if number else []),
        f"| {found.distribution} | |",
        "|---|---|",
        *rows,
        "",
        f"{next_id}. The old id keeps its rules ([what makes a new version](../about/versions.md)).",
        "",
    ]


def last_change(found: Registration) -> str:
    """One line: the first version, and the last one with a change."""
    changed = list(_changes(found))[1:]
    return f"{FIRST}, " + (f"changed in {changed[-1]}" if changed else "unchanged")


def table() -> list[str]:
    """All histories: a row for each environment and version with a change."""
    rows = ["| environment | version | what is new |", "|---|---|---|"]
    for each in our_environments():
        env_id = each.spec.id
        rows += [
            f"| [{env_id}](../environments/{env_id}.md) | {release} | {change} |"
            for release, change in _changes(each).items()
        ]
    return rows


def _changes(found: Registration) -> dict[str, str]:
    return {FIRST: f"first version, after {found.spec.source}", **_history(found.spec.id).get("changes", {})}


def _history(env_id: str) -> dict[str, dict[str, str]]:
    return json.loads(_DATA.read_text()).get(env_id, {})
