"""Writes `core/src/envcore/index.json`, from which core names the distribution that has an id which is not installed.

    uv run python tools/index

Our suites and plugins must be installed, as `uv sync` does; of the bridges' libraries none need be.
"""

from __future__ import annotations

import json
from pathlib import Path

import envcore
from envcore.plugins import PluginRecord
from envcore_bridges.libraries import LIBRARIES

INDEX = Path(__file__).parents[2] / "core" / "src" / "envcore" / "index.json"
_UNLISTED = ("envcore-bridges", "envcore-example")  # named by extras, and a template to copy


def main() -> None:
    INDEX.write_text(json.dumps(announced(), indent=2) + "\n")


def announced() -> dict[str, dict[str, list[str]]]:
    """What each of our distributions, or extras of bridges, announces; families stand for their members."""
    plugins = [each for each in envcore.registry.plugins if each.distribution.startswith("envcore-")]
    found = {each.distribution: _lists(each) for each in plugins if each.distribution not in _UNLISTED}
    found |= {f"envcore-bridges[{library.extra}]": {"families": [library.family]} for library in LIBRARIES}
    return {name: lists for name, lists in sorted(found.items()) if lists}


def _lists(plugin: PluginRecord) -> dict[str, list[str]]:
    lists = {
        "environments": sorted(spec.id for spec in plugin.specs if not spec.family),
        "families": sorted({spec.family for spec in plugin.specs if spec.family}),
        "commands": sorted(command.name for command in plugin.commands),
        "policies": sorted(policy.name for policy in plugin.policies),
    }
    return {kind: names for kind, names in lists.items() if names}


if __name__ == "__main__":
    main()
