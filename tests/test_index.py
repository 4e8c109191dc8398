"""core's `index.json` matches the distributions of this repository."""

from __future__ import annotations

import json

import envcore
from envcore_bridges.libraries import LIBRARIES
from tool_modules import load_tool


def test_the_index_is_what_the_distributions_announce() -> None:
    index = load_tool("index/__main__.py")
    assert json.loads(index.INDEX.read_text()) == index.announced(), "run `uv run python tools/index`"


def test_bridges_are_listed_by_extra_whether_their_library_is_installed_or_not() -> None:
    index = load_tool("index/__main__.py").announced()
    extras = {f"envcore-bridges[{library.extra}]": library.family for library in LIBRARIES}
    assert {name: index[name]["families"] for name in extras} == {name: [family] for name, family in extras.items()}
    assert "envcore-bridges" not in index
    assert "envcore-example" not in index  # a template to copy
    (bridges,) = (each for each in envcore.registry.plugins if each.distribution == "envcore-bridges")
    assert {spec.family for spec in bridges.specs} <= set(extras.values())
