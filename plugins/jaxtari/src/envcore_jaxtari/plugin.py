"""Announces Jaxtari's environments to envcore. Imports neither JAX nor jaxtari."""

from __future__ import annotations

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec

_SOURCE = "TODO: name, version, authors (year)"

# By the library's names; the ids are `jaxtari/NAME`. A test compares them with what the library lists.
ENVIRONMENTS = {
    "TODO": "TODO: the task in one line.",
}


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    return [
        EnvSpec(
            id=f"jaxtari/{name}",
            entry_point="envcore_jaxtari.bridge:from_jaxtari",
            kwargs={"source": name},
            summary=summary,
            source=_SOURCE,
            family="jaxtari",
        )
        for name, summary in ENVIRONMENTS.items()
    ]
