"""Registers the environments of installed libraries. Imports neither JAX nor any of these libraries."""

from __future__ import annotations

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec

from envcore_bridges import libraries


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    installed = (library for library in libraries.LIBRARIES if libraries.is_installed(library.family))
    return [spec for library in installed for spec in library.specs()]
