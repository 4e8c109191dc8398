"""The page of findings in other libraries, from what `tools/findings` has written."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from envcore_bridges.libraries import BY_FAMILY

_DATA = Path(__file__).with_name("data")


def write_page(path: Path, text: Path) -> None:
    """Writes the page: the text, with what was found in the place of its comments."""
    found, checked = (json.loads((_DATA / f"{name}.json").read_text()) for name in ("findings", "libraries"))
    page = text.read_text().replace("<!-- findings -->", "\n".join(_findings(found)))
    path.write_text(page.replace("<!-- libraries -->", "\n".join(_libraries(checked))))


def _findings(found: Mapping[str, Any]) -> Iterable[str]:
    rows = sorted(found.values(), key=lambda row: row["ids"][0])
    for family, group in itertools.groupby(rows, lambda row: row["ids"][0].partition("/")[0]):
        yield f"### {BY_FAMILY[family].title}\n"
        for row in group:
            names = ", ".join(f"`{env_id.partition('/')[2]}`" for env_id in row["ids"])
            yield f"**{names}**: {row['summary']} ({_versions(row)})\n"
            yield f"```py\n{row['code'].strip()}\n```\n"
            yield f"```text\n{row['output'].strip()}\n```\n"


def _libraries(checked: Mapping[str, Any]) -> Iterable[str]:
    for family, group in itertools.groupby(sorted(checked.items()), lambda item: item[0].partition("/")[0]):
        library = BY_FAMILY[family]
        rows = list(group)
        number = len(library.environments())
        yield f"### {library.title}: {len(rows)} of {number} environments\n"
        yield "| environment | versions | kept | beside the library |\n|---|---|---|---|"
        for env_id, row in rows:
            options = "".join(f", `{name}={value}`" for name, value in row["options"].items())
            yield f"| `{env_id}`{options} | {_versions(row)} | {_kept(row)} | {_lockstep(row['lockstep'])} |"
        yield ""
        for env_id, row in rows:
            problems = {**row.get("broken", {}), "lockstep": row["lockstep"].get("difference", "")}
            yield from (f"- `{env_id}`, `{rule}`: {_code(problem)}" for rule, problem in problems.items() if problem)
        yield ""


def _versions(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in row["versions"].items())


def _kept(row: Mapping[str, Any]) -> str:
    if "kept" not in row:
        return "not checked"
    broken = ", ".join(f"`{rule}`" for rule in row["broken"])
    return f"{row['kept']}, but not {broken}" if broken else f"{row['kept']}, all that apply"


def _lockstep(found: Mapping[str, Any]) -> str:
    if not found:
        return "not played"
    if "difference" in found:
        return f"{found['steps']} steps: they differ, see below"
    episodes = "episode" if found["ended"] == 1 else "episodes"
    return f"{found['steps']} steps, {found['ended']} {episodes}: equal"


def _code(text: str) -> str:
    """As code: a message may contain what Markdown would read."""
    return f"`` {text} ``"
