"""core's `index.json` matches the distributions of this repository."""

from __future__ import annotations

import json
from importlib import resources

import envcore
from envcore_bridges.libraries import LIBRARIES

UNLISTED = "envcore-example"  # a template to copy, not a suite to install


def test_the_index_is_what_the_distributions_announce() -> None:
    announced = {
        plugin.distribution: {
            "environments": sorted(spec.id for spec in plugin.specs if not spec.family),
            "families": sorted({spec.family for spec in plugin.specs if spec.family}),
            "commands": sorted(command.name for command in plugin.commands),
        }
        for plugin in envcore.registry.plugins
        if plugin.distribution.startswith("envcore-") and plugin.distribution != UNLISTED
    }
    # It announces the families whose library is installed; the index names the extras of all.
    bridges = announced.pop("envcore-bridges")
    assert set(bridges["families"]) <= {library.family for library in LIBRARIES}
    for library in LIBRARIES:
        extra = f"envcore-bridges[{library.extra}]"
        announced[extra] = {"environments": [], "families": [library.family], "commands": []}
    index = json.loads(resources.files("envcore").joinpath("index.json").read_text())
    listed = {
        distribution: {kind: sorted(lists.get(kind, ())) for kind in ("environments", "families", "commands")}
        for distribution, lists in index.items()
    }
    assert listed == announced, "update core/src/envcore/index.json"
