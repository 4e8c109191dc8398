"""Announces XMiniGrid's environments to envcore. Imports neither JAX nor xminigrid."""

from __future__ import annotations

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec

_SOURCE = "TODO: name, version, authors (year)"

# By the library's names; the ids are `xminigrid/NAME`. A test compares them with what the library lists.
ENVIRONMENTS = {
    "TODO": "TODO: the task in one line.",
}


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    return [
        EnvSpec(
            id=f"xminigrid/{name}",
            entry_point="envcore_xminigrid.bridge:from_xminigrid",
            kwargs={"source": name},
            summary=summary,
            source=_SOURCE,
            family="xminigrid",
        )
        for name, summary in ENVIRONMENTS.items()
    ]
