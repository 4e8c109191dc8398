"""Announces Navix's environments to envcore. Imports neither JAX nor navix."""

from __future__ import annotations

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec

_SOURCE = "TODO: name, version, authors (year)"

# By the library's names; the ids are `navix/NAME`. A test compares them with what the library lists.
ENVIRONMENTS = {
    "TODO": "TODO: the task in one line.",
}


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    return [
        EnvSpec(
            id=f"navix/{name}",
            entry_point="envcore_navix.bridge:from_navix",
            kwargs={"source": name},
            summary=summary,
            source=_SOURCE,
            family="navix",
        )
        for name, summary in ENVIRONMENTS.items()
    ]
